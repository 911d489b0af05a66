#include "conformance/table.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <thread>

#include "conformance/play.hpp"

namespace spillway::conformance {

namespace {

constexpr Level kLevels[] = {Level::must, Level::should, Level::may, Level::ours};

std::string table_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string share(const Count& count) {
  return std::to_string(count.passed) + " / " + std::to_string(count.of);
}

Count count_if(const std::vector<Case>& cases, const Column& column,
               const std::function<bool(const Case&)>& counts) {
  Count result;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    if (!counts(cases[n])) continue;
    ++result.of;
    result.passed += column[n].empty();
  }
  return result;
}

std::string totals(const std::string& label, const std::string& level,
                   const std::vector<Case>& cases, const std::vector<Column>& columns,
                   const std::function<bool(const Case&)>& counts) {
  std::vector<std::string> cells{"total", label, level};
  for (const Column& column : columns) cells.push_back(share(count_if(cases, column, counts)));
  return table_row(cells);
}

// Sections in the order of their numbers: "9110 7.6.1" behind "9110 5.5".
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

std::vector<Column> play_all(const std::vector<Case>& cases, const std::vector<Subject>& subjects) {
  std::vector<Column> columns(subjects.size(), Column(cases.size()));
  std::vector<std::atomic<std::size_t>> next(subjects.size());
  std::vector<std::thread> players;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    for (const Lane& lane : subjects[s].lanes) {
      players.emplace_back([&, s, lane] {
        for (std::size_t n = next[s]++; n < cases.size(); n = next[s]++) {
          const std::uint16_t port = cases[n].is_trusted() ? lane.trusting_port : lane.port;
          try {
            columns[s][n] =
                cases[n].wrong_with(play(cases[n], port, *lane.backend, subjects[s].patience));
          } catch (const std::exception& exception) {
            columns[s][n] = exception.what();
          }
        }
      });
    }
  }
  for (std::thread& player : players) player.join();
  return columns;
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::must: return "MUST";
    case Level::should: return "SHOULD";
    case Level::may: return "MAY";
    case Level::ours: return "ours";
  }
  return "";
}

Count count(const std::vector<Case>& cases, const Column& column) {
  return count_if(cases, column, [](const Case&) { return true; });
}

std::string printed(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                    const std::vector<Column>& columns) {
  std::vector<std::string> heads{"case", "section", "level"};
  for (const Subject& subject : subjects) heads.push_back(subject.name);
  std::string text = table_row(heads) + table_row(std::vector<std::string>(heads.size(), "---"));
  for (std::size_t n = 0; n < cases.size(); ++n) {
    std::vector<std::string> cells{cases[n].sentence(), cases[n].section(),
                                   std::string(name_of(cases[n].level()))};
    for (const Column& column : columns) cells.push_back(column[n].empty() ? "holds" : "-");
    text += table_row(cells);
  }
  for (const std::string& section : sections(cases)) {
    text += totals(section, "", cases, columns,
                   [&](const Case& each) { return each.section() == section; });
  }
  for (const Level level : kLevels) {
    text += totals("", std::string(name_of(level)), cases, columns,
                   [&](const Case& each) { return each.level() == level; });
  }
  text += totals("", "", cases, columns, [](const Case&) { return true; });
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    text += "\nNot held by " + subjects[i].name + ":\n\n";
    for (std::size_t n = 0; n < cases.size(); ++n) {
      if (columns[i][n].empty()) continue;
      text += "* " + cases[n].section() + " " + std::string(name_of(cases[n].level())) + ": " +
              cases[n].sentence() + ": " + columns[i][n] + "\n";
    }
  }
  text += "\nOn purpose:\n\n";
  for (const Case& each : cases) {
    if (!each.reason().empty()) text += "* " + each.sentence() + ": " + each.reason() + "\n";
  }
  return text;
}

}  // namespace spillway::conformance
