#include "system/wire/table.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "system/wire/player.hpp"

namespace spillway::wire {

namespace {

constexpr Level kLevels[] = {Level::must, Level::should, Level::may, Level::ours};

// Plays cases at a lane until there are no more, and then what of them is for later.
void play_at(const Lane& lane, const std::vector<Case>& cases, std::atomic<std::size_t>& next,
             support::Milliseconds patience, support::Milliseconds pause,
             std::vector<Verdict>& verdicts) {
  std::map<std::size_t, Player> on_their_way;
  for (std::size_t n = next++; n < cases.size(); n = next++) {
    on_their_way.try_emplace(n, cases[n], n, lane, patience).first->second.go_on();
  }
  const support::Event never;
  for (;;) {
    for (const auto& [n, player] : on_their_way) {
      if (player.ended()) verdicts[n] = player.verdict();
    }
    std::erase_if(on_their_way, [](const auto& each) { return each.second.ended(); });
    if (on_their_way.empty()) return;
    never.wait(pause);
    for (auto& [n, player] : on_their_way) player.go_on();
  }
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string totals(const std::string& label, std::string_view level, const std::vector<Case>& cases,
                   const std::vector<Column>& columns,
                   const std::function<bool(const Case&)>& counts) {
  std::vector<std::string> cells{"total", label, std::string(level)};
  for (const Column& column : columns) {
    std::vector<Verdict> counted;
    for (std::size_t n = 0; n < cases.size(); ++n) {
      if (counts(cases[n])) counted.push_back(column.verdicts[n]);
    }
    cells.push_back(std::to_string(held(counted)) + " / " + std::to_string(counted.size()));
  }
  return table_row(cells);
}

// In the order of their numbers: "9110 7.6.1" behind "9110 5.5".
std::vector<std::string> sections(const std::vector<Case>& cases) {
  std::map<std::vector<int>, std::string> ordered;
  for (const Case& each : cases) {
    std::vector<int> numbers;
    bool in_number = false;
    for (const char c : each.section()) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !in_number) numbers.push_back(0);
      if (digit) numbers.back() = numbers.back() * 10 + (c - '0');
      in_number = digit;
    }
    ordered[numbers] = each.section();
  }
  std::vector<std::string> all;
  for (const auto& [numbers, section] : ordered) all.push_back(section);
  return all;
}

}  // namespace

std::size_t held(const std::vector<Verdict>& verdicts) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, Verdict()));
}

std::vector<Column> play_all(const std::vector<Case>& cases,
                             const std::vector<ProxyUnderTest>& proxies,
                             support::Milliseconds pause) {
  std::vector<Column> columns;
  for (const ProxyUnderTest& proxy : proxies) {
    columns.push_back({proxy.name, std::vector<Verdict>(cases.size())});
  }
  std::vector<std::atomic<std::size_t>> next(proxies.size());
  std::vector<std::thread> players;
  for (std::size_t p = 0; p < proxies.size(); ++p) {
    for (const Lane& lane : proxies[p].lanes) {
      players.emplace_back([&, p] {
        play_at(lane, cases, next[p], proxies[p].patience, pause, columns[p].verdicts);
      });
    }
  }
  for (std::thread& player : players) player.join();
  return columns;
}

std::string table(const std::vector<Case>& cases, const std::vector<Column>& columns) {
  std::vector<std::string> heads{"case", "section", "level"};
  for (const Column& column : columns) heads.push_back(column.proxy);
  std::string text = table_row(heads) + table_row(std::vector<std::string>(heads.size(), "---"));
  for (std::size_t n = 0; n < cases.size(); ++n) {
    std::vector<std::string> cells{cases[n].sentence(), cases[n].section(),
                                   std::string(name_of(cases[n].level()))};
    for (const Column& column : columns) {
      cells.push_back(column.verdicts[n].empty() ? "holds" : "-");
    }
    text += table_row(cells);
  }
  for (const std::string& section : sections(cases)) {
    text += totals(section, "", cases, columns,
                   [&](const Case& each) { return each.section() == section; });
  }
  for (const Level level : kLevels) {
    text += totals("", name_of(level), cases, columns,
                   [&](const Case& each) { return each.level() == level; });
  }
  text += totals("", "", cases, columns, [](const Case&) { return true; });
  for (const Column& column : columns) {
    text += "\nNot held by " + column.proxy + ":\n\n";
    for (std::size_t n = 0; n < cases.size(); ++n) {
      if (column.verdicts[n].empty()) continue;
      text += "* " + cases[n].section() + " " + std::string(name_of(cases[n].level())) + ": " +
              cases[n].sentence() + ": " + column.verdicts[n] + "\n";
    }
  }
  text += "\nOn purpose:\n\n";
  for (const Case& each : cases) {
    if (!each.reason().empty()) text += "* " + each.sentence() + ": " + each.reason() + "\n";
  }
  return text;
}

}  // namespace spillway::wire
