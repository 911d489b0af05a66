#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simulate/figures.hpp"

namespace spillway::report {
namespace {

// Characters, not bytes: what continues a character of UTF-8 takes no room.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> headings, std::size_t flush_left) : flush_left_(flush_left) {
  rows_.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::markdown() const {
  std::vector<std::size_t> widths(rows_.front().size(), 4);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = rows_[r][i];
      const std::string room(widths[i] - width(cell), ' ');
      text += (i == 0 ? "| " : " | ") + (i < flush_left_ ? cell + room : room + cell);
    }
    text += " |\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text +=
          (i == 0 ? "| " : " | ") + std::string(widths[i] - 1, '-') + (i < flush_left_ ? '-' : ':');
    }
    text += " |\n";
  }
  return text;
}

std::string number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  return simulate::fixed(value, size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0);
}

}  // namespace spillway::report
