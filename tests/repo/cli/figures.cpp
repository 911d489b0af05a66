#include "repo/cli/figures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <sstream>

namespace cli {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(std::string text) {
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  text.erase(text.begin(), std::ranges::find_if_not(text, is_blank));
  return text;
}

// What stands apart by two blanks or more.
std::vector<std::string> apart(const std::string& line) {
  static const std::regex gap("\\s{2,}");
  const std::string whole = trimmed(line);
  return {std::sregex_token_iterator(whole.begin(), whole.end(), gap, -1), {}};
}

std::size_t end_of_number(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  if (end > at && text[end - 1] == '.') --end;  // of the sentence
  return end;
}

std::size_t after_blanks(const std::string& text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// A number at `at`, with its unit if `has_unit`; `at` itself: there is none.
std::size_t end_of_figure(const std::string& text, std::size_t at, bool has_unit) {
  const std::size_t end = end_of_number(text, at);
  if (end == at || !has_unit) return end;
  const std::size_t unit = after_blanks(text, end);
  for (const std::string_view known : {"%", "ms", "s"}) {
    if (text.compare(unit, known.size(), known) == 0) return unit + known.size();
  }
  return end;
}

// Where the figures of a passage are if it stands at `at`.
std::optional<std::vector<std::pair<std::size_t, std::size_t>>> figures_at(const std::string& text,
                                                                           std::size_t at,
                                                                           const Claim& claim) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < claim.passage.size(); ++i) {
    if (is_blank(claim.passage[i])) {
      const std::size_t next = after_blanks(text, at);
      if (next == at) return std::nullopt;
      at = next;
    } else if (claim.passage.compare(i, 2, "{}") == 0) {
      const bool has_unit = claim.figures.at(found.size()).find(' ') != std::string::npos;
      const std::size_t end = end_of_figure(text, at, has_unit);
      if (end == at) return std::nullopt;
      found.emplace_back(at, end);
      at = end;
      ++i;
    } else if (at < text.size() && text[at] == claim.passage[i]) {
      ++at;
    } else {
      return std::nullopt;
    }
  }
  return found;
}

// A figure in the place of another one, with its line break if it has one.
std::string in_place_of(const std::string& old, const std::string& figure) {
  const auto blank = std::ranges::find_if(old, is_blank);
  const std::size_t ours = figure.find(' ');
  if (blank == old.end() || ours == std::string::npos) return figure;
  return figure.substr(0, ours) + *blank + figure.substr(ours + 1);
}

std::vector<std::pair<std::size_t, std::size_t>> cells_of(const std::string& text,
                                                          std::size_t begin, std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>> cells;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t bar = std::min(text.find('|', at), end);
    std::size_t first = at, last = bar;
    while (first < last && is_blank(text[first])) ++first;
    while (last > first && is_blank(text[last - 1])) --last;
    if (bar < end) cells.emplace_back(first, last);
    at = bar + 1;
  }
  return cells;
}

// What a row changes, in its configuration.
struct Changed {
  std::string configuration = "site.json";
  std::vector<std::string> changes;
};

// As "the same, and `s/a/b/`": of the row before; "the first, `s/a/b/`": of the first row.
Changed changed_by(const std::string& cell, const std::vector<Changed>& rows) {
  Changed changed;
  if (cell.starts_with("the same") || cell.starts_with("and ")) changed = rows.back();
  if (cell.starts_with("the first")) changed = rows.at(0);
  if (cell.starts_with("the second")) changed = rows.at(1);
  const std::string option = "--config ";
  for (std::size_t from = cell.find('`'); from != std::string::npos;) {
    const std::size_t to = cell.find('`', from + 1);
    const std::string word = cell.substr(from + 1, to - from - 1);
    if (word.starts_with(option)) {
      changed.configuration = word.substr(option.size());
    } else if (word.starts_with("s/")) {
      changed.changes.push_back(word);
    }
    from = to == std::string::npos ? to : cell.find('`', to + 1);
  }
  return changed;
}

}  // namespace

std::string Printed::of_class(std::string_view name, std::size_t column) const {
  for (const std::string& line : lines_of(text_)) {
    if (!line.starts_with(std::string(name) + "  ")) continue;
    std::vector<std::string> words = apart(line);
    words.erase(words.begin());
    if (words.at(0) == "with") words.erase(words.begin());
    return words.at(column);
  }
  FAIL("no class ", name, " in\n", text_);
  return {};
}

std::string Printed::value(std::string_view label, std::size_t column) const {
  for (const std::string& line : lines_of(text_)) {
    if (line.starts_with(std::string(label) + "  ")) return apart(line).at(column + 1);
  }
  FAIL("no ", label, " in\n", text_);
  return {};
}

std::string Printed::normal_again() const {
  const std::string last = trimmed(lines_of(text_).back());
  return last.ends_with("NORMAL") ? last.substr(0, last.find(' ')) : "";
}

std::string bare(const std::string& figure) { return figure.substr(0, figure.find(' ')); }

bool Page::put(const Claim& claim) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const auto here = figures_at(text_, at, claim);
    if (!here) continue;
    if (!found.empty()) return false;
    found = *here;
  }
  for (std::size_t n = 0; n < found.size(); ++n) {
    const auto [begin, end] = found[n];
    figures_[begin] = {end, in_place_of(text_.substr(begin, end - begin), claim.figures[n])};
  }
  return !found.empty();
}

bool Page::put(const Table& table, const Play& play) {
  std::size_t at = text_.find("\n" + table.header + "\n");
  if (at == std::string::npos) return false;
  at = text_.find('\n', at + 1) + 1;
  at = text_.find('\n', at) + 1;  // behind the line of dashes
  std::vector<Changed> rows;
  while (at < text_.size() && text_[at] == '|') {
    const std::size_t end = text_.find('\n', at);
    const auto cells = cells_of(text_, at, end);
    if (cells.size() != table.columns.size() + 1) return false;
    const auto [first, last] = cells[0];
    rows.push_back(changed_by(text_.substr(first, last - first), rows));
    const Printed printed = play(rows.back().configuration, rows.back().changes);
    for (std::size_t n = 0; n < table.columns.size(); ++n) {
      if (table.columns[n]) {
        figures_[cells[n + 1].first] = {cells[n + 1].second, table.columns[n](printed)};
      }
    }
    at = end + 1;
  }
  return !rows.empty();
}

std::string Page::corrected() const {
  std::string text;
  std::size_t at = 0;
  for (const auto& [begin, figure] : figures_) {
    text += text_.substr(at, begin - at) + figure.now;
    at = figure.end;
  }
  return text + text_.substr(at);
}

std::vector<std::string> Page::unclaimed() const {
  static const std::regex share("[0-9]+\\.[0-9][0-9]\\s%");
  std::vector<std::string> out;
  for (std::sregex_iterator at(text_.begin(), text_.end(), share), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    const auto after = figures_.upper_bound(begin);
    if (after != figures_.begin() && std::prev(after)->second.end > begin) continue;
    const std::size_t line = text_.rfind('\n', begin) + 1;
    out.push_back(text_.substr(line, text_.find('\n', begin) - line));
  }
  return out;
}

std::vector<std::string> changed_lines(const std::string& before, const std::string& now) {
  const std::vector<std::string> old = lines_of(before), ours = lines_of(now);
  std::vector<std::string> out;
  for (std::size_t n = 0; n < ours.size(); ++n) {
    if (n < old.size() && old[n] == ours[n]) continue;
    out.push_back(std::to_string(n + 1) + ": " + ours[n]);
  }
  return out;
}

}  // namespace cli
