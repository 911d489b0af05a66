// The figures that docs/operations.md takes from `spillway simulate`: its commands are played as it
// shows them, and where a figure is not the one that is printed now, the line that ought to be
// there is said.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

// What one `simulate` has printed, read for the figures as they stand there: "50.38 %", "217 ms".
class Printed {
 public:
  explicit Printed(std::string text) : text_(std::move(text)) {}

  // Of a class, with shedding; columns are numbered from `offered` on: 1 success, 3 p95, 5 denied,
  // 6 degraded. Fails the test where there is none.
  std::string of_class(std::string_view name, std::size_t column) const;
  std::string served(std::string_view name) const { return of_class(name, 1); }
  std::string p95(std::string_view name) const { return of_class(name, 3); }
  // The first value of a line of the summary: "goodput", "transitions", a tenant. With `column` 1
  // the second, which is without shedding.
  std::string value(std::string_view label, std::size_t column = 0) const;
  // When the last state ended, "43.1"; empty: it lasts.
  std::string normal_again() const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The number without its unit.
std::string bare(const std::string& figure);

// A passage of the page with {} for each figure; blanks of it stand for line breaks, too.
struct Claim {
  std::string passage;
  std::vector<std::string> figures;
};

// A table of the page: a row's first cell is what it changes, each other one has a column here.
struct Table {
  std::string header;  // the line
  std::vector<std::function<std::string(const Printed&)>> columns;
};

// A page whose figures are corrected, and which of them nothing was said of.
class Page {
 public:
  explicit Page(std::string text) : text_(std::move(text)) {}

  // Puts the figures of a passage in. false: it is not there, or more than once.
  bool put(const Claim& claim);
  // Puts those of all rows in, each by `play` of its changes, as sed has them, to a configuration.
  // false: there is no such table, or a row has too few cells.
  using Play = std::function<Printed(const std::string& configuration,
                                     const std::vector<std::string>& changes)>;
  bool put(const Table& table, const Play& play);

  std::string corrected() const;
  // The lines with a share such as 12.34 % that neither a claim nor a table has put in.
  std::vector<std::string> unclaimed() const;

 private:
  struct Figure {
    std::size_t end;
    std::string now;
  };

  std::string text_;
  std::map<std::size_t, Figure> figures_;  // by where they begin
};

// The numbered lines of `now` that `before` has otherwise.
std::vector<std::string> changed_lines(const std::string& before, const std::string& now);

}  // namespace cli
