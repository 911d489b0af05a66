#include "support/held_table.hpp"

#include <functional>
#include <map>

namespace spillway::support {

namespace {

constexpr Level kLevels[] = {Level::must, Level::should, Level::may, Level::ours};

std::string table_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string totals(const std::string& label, std::string_view level,
                   const std::vector<HeldRow>& rows, const std::vector<HeldColumn>& columns,
                   const std::function<bool(const HeldRow&)>& counts) {
  std::vector<std::string> cells{"total", label, std::string(level)};
  for (const HeldColumn& column : columns) {
    std::vector<std::string> counted;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      if (counts(rows[n])) counted.push_back(column.wrong[n]);
    }
    const Count count = support::count(counted);
    cells.push_back(std::to_string(count.passed) + " / " + std::to_string(count.of));
  }
  return table_row(cells);
}

// In the order of their numbers: "9110 7.6.1" behind "9110 5.5".
std::vector<std::string> sections(const std::vector<HeldRow>& rows) {
  std::map<std::vector<int>, std::string> ordered;
  for (const HeldRow& row : rows) {
    if (row.section.empty()) continue;
    std::vector<int> numbers;
    bool in_number = false;
    for (const char c : row.section) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !in_number) numbers.push_back(0);
      if (digit) numbers.back() = numbers.back() * 10 + (c - '0');
      in_number = digit;
    }
    ordered[numbers] = row.section;
  }
  std::vector<std::string> all;
  for (const auto& [numbers, section] : ordered) all.push_back(section);
  return all;
}

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::must: return "MUST";
    case Level::should: return "SHOULD";
    case Level::may: return "MAY";
    case Level::ours: return "ours";
  }
  return "";
}

Count count(const std::vector<std::string>& wrong) {
  Count result{.of = wrong.size()};
  for (const std::string& each : wrong) result.passed += each.empty();
  return result;
}

std::string held_table(const std::vector<HeldRow>& rows, const std::vector<HeldColumn>& columns) {
  std::vector<std::string> heads{"case", "section", "level"};
  for (const HeldColumn& column : columns) heads.push_back(column.name);
  std::string text = table_row(heads) + table_row(std::vector<std::string>(heads.size(), "---"));
  for (std::size_t n = 0; n < rows.size(); ++n) {
    std::vector<std::string> cells{rows[n].sentence, rows[n].section,
                                   std::string(name_of(rows[n].level))};
    for (const HeldColumn& column : columns)
      cells.push_back(column.wrong[n].empty() ? "holds" : "-");
    text += table_row(cells);
  }
  for (const std::string& section : sections(rows)) {
    text += totals(section, "", rows, columns,
                   [&](const HeldRow& row) { return row.section == section; });
  }
  for (const Level level : kLevels) {
    text += totals("", name_of(level), rows, columns,
                   [&](const HeldRow& row) { return row.level == level; });
  }
  text += totals("", "", rows, columns, [](const HeldRow&) { return true; });
  for (const HeldColumn& column : columns) {
    text += "\nNot held by " + column.name + ":\n\n";
    for (std::size_t n = 0; n < rows.size(); ++n) {
      if (column.wrong[n].empty()) continue;
      text += "* " + rows[n].section + " " + std::string(name_of(rows[n].level)) + ": " +
              rows[n].sentence + ": " + column.wrong[n] + "\n";
    }
  }
  text += "\nOn purpose:\n\n";
  for (const HeldRow& row : rows) {
    if (!row.reason.empty()) text += "* " + row.sentence + ": " + row.reason + "\n";
  }
  return text;
}

}  // namespace spillway::support
