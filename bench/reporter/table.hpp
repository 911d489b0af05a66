// A table as Markdown whose columns also line up on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace spillway::report {

class Table {
 public:
  // The first columns are flush left, the others flush right.
  explicit Table(std::vector<std::string> headings, std::size_t flush_left = 1);

  // As many cells as headings: missing ones are empty, further ones are left out.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.size() == 1; }
  std::string markdown() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t flush_left_;
};

// Three digits that mean something: "0.812", "17.8", "178", "17800"; "-" if it is not finite.
std::string number(double value);

}  // namespace spillway::report
