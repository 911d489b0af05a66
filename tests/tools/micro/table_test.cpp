#include "table.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace spillway::micro;

namespace {

bool has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the median is the middle one and of an even number the lower of the two") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2);
  CHECK(median({7}) == 7);
  CHECK(median({}) == 0);
}

TEST_CASE("a line tells median and range and target and whether the median keeps it") {
  const std::string kept = times_line("decide", {12.34, 11, 99.9}, 50);
  CHECK(has(kept, "| decide "));
  CHECK(has(kept, " 12.3 |"));
  CHECK(has(kept, " 11.0-99.9 |"));
  CHECK(has(kept, " 50 | ok "));
  CHECK(has(times_line("decide", {50}, 50), "ok"));
  CHECK(has(times_line("decide", {10, 51, 60}, 50), "OVER"));
  CHECK_FALSE(has(times_line("decide", {10, 51, 60}, 50), "ok"));
}

TEST_CASE("a benchmark without a target gets no verdict") {
  const std::string line = times_line("tick", {3767}, std::nullopt);
  CHECK(has(line, " 3767 |"));
  CHECK_FALSE(has(line, "ok"));
  CHECK_FALSE(has(line, "OVER"));
}

TEST_CASE("every line of a table has as many cells as its heading") {
  const auto cells = [](const std::string& line) {
    return std::count(line.begin(), line.end(), '|');
  };
  const std::string times = times_heading(), sizes = sizes_heading();
  const auto first = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  CHECK(cells(first(times)) * 2 == cells(times));
  CHECK(cells(times_line("a", {1, 2}, 3)) == cells(first(times)));
  CHECK(cells(times_line("a", {}, std::nullopt)) == cells(first(times)));
  CHECK(cells(sizes_line("a", 1)) == cells(first(sizes)));
}
