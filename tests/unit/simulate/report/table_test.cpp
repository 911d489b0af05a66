#include "simulate/report/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "unit/simulate/recordings.hpp"

namespace spillway::simulate {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The line of `text` that begins with `start`, or nothing.
std::string line_with(const std::string& text, const std::string& start) {
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(start)) return line;
  }
  return "";
}

std::vector<std::string> class_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("P" + std::to_string(i));
  return names;
}

Second second_of(std::size_t classes, std::uint64_t number) {
  Second second;
  second.state = State::overloaded;
  second.queued = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
  second.p95 = 0.123;
  second.classes.resize(classes, {number, number, number, number, 0, 0, 0});
  return second;
}

}  // namespace

TEST_CASE("a second is told in a line") {
  CHECK(
      header({"P0", "P1"}) ==
      "                                  | P0                        | P1                       \n"
      " sec  state       queued      p95 | offer admit degrade  deny | offer admit degrade  "
      "deny\n");
  Second second = second_of(2, 7);
  second.classes[1] = {.offered = 500, .admitted = 120, .degraded = 30, .denied = 350};
  CHECK(line(12, second) ==
        "  12  OVERLOADED       7   123 ms |     7     7       7     7 |   500   120      30   "
        "350\n");
}

TEST_CASE("all lines of a table are equally long whatever the numbers") {
  for (std::size_t classes = 1; classes <= 8; ++classes) {
    CAPTURE(classes);
    const auto heads = lines_of(header(class_names(classes)));
    REQUIRE(heads.size() == 2);
    CHECK(heads[0].size() == heads[1].size());
    for (const std::uint64_t number : {0ULL, 9ULL, 9999ULL, 10000ULL, 99999ULL, 123456789ULL}) {
      for (const std::size_t at : {0UL, 9999UL, 100000UL}) {
        CAPTURE(number);
        const auto told = lines_of(line(at, second_of(classes, number)));
        REQUIRE(told.size() == 1);
        CHECK(told[0].size() == heads[1].size());
        for (std::size_t i = heads[1].find('|'); i < told[0].size(); ++i) {
          CHECK((heads[1][i] == '|') == (told[0][i] == '|'));
        }
      }
    }
  }
}

TEST_CASE("a second of two runs is told in a line with both") {
  CHECK(compare_header({"P0"}) ==
        "                          queued               p95 | P0 served        \n"
        " sec  state         with     w/o     with      w/o | offer  with   w/o\n");
  Second with = second_of(1, 7), without = second_of(1, 900);
  with.classes[0] = {.offered = 50, .served = 49};
  without.classes[0] = {.offered = 50, .served = 3};
  without.p95 = 12.3;
  CHECK(compare_line(12, with, without) ==
        "  12  OVERLOADED       7     900   123 ms   12.3 s |    50    49     3\n");
  const auto heads = lines_of(compare_header(class_names(3)));
  CHECK(heads[0].size() == heads[1].size());
  CHECK(heads[1].size() <= 120);
  CHECK(lines_of(compare_line(1, second_of(3, 123456789), second_of(3, 0)))[0].size() ==
        heads[1].size());
}

TEST_CASE("three classes fit in 120 columns and eight in 210") {
  CHECK(lines_of(header(class_names(3)))[1].size() <= 120);
  CHECK(lines_of(header(class_names(8)))[1].size() <= 210);
}

TEST_CASE("long names are cut to their column and a second without answers has a dash") {
  const auto heads = lines_of(header({std::string(80, 'x'), "P1"}));
  CHECK(heads[0].size() == heads[1].size());
  Second second = second_of(2, 0);
  for (const double p95 : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    second.p95 = p95;
    CHECK(line(1, second).find("       0        - |") != std::string::npos);
  }
}

TEST_CASE("a table without classes has its other columns") {
  const auto heads = lines_of(header({}));
  CHECK(lines_of(line(3, Second{}))[0].size() == heads[1].size());
}

TEST_CASE("a summary of one run has each class and the totals and the transitions") {
  const Recording run = made_up_spike(true);
  const std::string text = summary(run, nullptr);
  CHECK(text.starts_with("spike: Twice as much as the backend can do"));
  CHECK(text.find("figures after the first 5.0 s") != std::string::npos);
  CHECK(line_with(text, "P0").find("21 ms     48 ms     71 ms") != std::string::npos);
  CHECK(line_with(text, "goodput").ends_with(" 98.10 %"));
  CHECK(line_with(text, "wasted work").ends_with(" 0.31 %"));
  CHECK(line_with(text, "max queue").ends_with(' ' + std::to_string(run.max_queued)));
  CHECK(line_with(text, "time OVERLOADED").ends_with(" 39.1 s"));
  CHECK(line_with(text, "time CRITICAL").empty());
  CHECK(line_with(text, "transitions  ").ends_with(" 4"));
  CHECK(line_with(text, "    12.1 s") == "    12.1 s  OVERLOADED  QUEUE_WAIT_RISK");
  CHECK(line_with(text, "    54.2 s") == "    54.2 s  NORMAL");
  CHECK(text.find("without shedding") == std::string::npos);
  CHECK(text.find("Jain") == std::string::npos);
}

TEST_CASE("a comparison has a line for each run of a class and a column for each run") {
  const Recording without = made_up_spike(false);
  const std::string text = summary(made_up_spike(true), &without);
  const auto lines = lines_of(text);
  const auto first =
      std::ranges::find_if(lines, [](const std::string& each) { return each.starts_with("P0 "); });
  REQUIRE(first != lines.end());
  CHECK(first->find(" with ") != std::string::npos);
  CHECK((first + 1)->find(" without ") != std::string::npos);
  CHECK(first->size() == (first + 1)->size());
  CHECK(line_with(text, "goodput").ends_with(" 98.10 %" + std::string(12, ' ') + "11.80 %"));
  CHECK(line_with(text, "time CRITICAL").ends_with(" 0.0 s" + std::string(13, ' ') + "43.5 s"));
  CHECK(text.find("transitions without shedding") != std::string::npos);
}

TEST_CASE("tenants come busiest first with their success and the Jain index") {
  Recording run = made_up_run(1, 10);
  run.jain = 0.9734;
  run.tenants = {{"small", 10, 9}, {"large", 1000, 100}, {"idle", 0, 0}};
  const std::string text = summary(run, nullptr);
  CHECK(line_with(text, "Jain index").ends_with(" 0.973"));
  CHECK(text.find("large") < text.find("small"));
  CHECK(line_with(text, "large").find(" 10.00 %") != std::string::npos);
  CHECK(line_with(text, "idle").find(" - ") != std::string::npos);
  for (int i = 0; i < 22; ++i) run.tenants.push_back({"t" + std::to_string(i), 20, 20});
  CHECK(summary(run, nullptr).ends_with("and 13 more\n"));
}

TEST_CASE("a run that nothing watched over has no time per state") {
  Recording without = made_up_spike(false);
  without.changes.clear();
  const std::string text = summary(made_up_spike(true), &without);
  CHECK(line_with(text, "time OVERLOADED").ends_with(" -"));
  CHECK(line_with(text, "transitions  ").ends_with(" -"));
}

TEST_CASE("many transitions are counted instead of listed") {
  const std::string text = summary(made_up_run(1, 1000), nullptr);
  CHECK(text.find("and 87 more") != std::string::npos);
  CHECK(line_with(text, "transitions  ").ends_with(" 99"));
}

TEST_CASE("a summary of nothing has no figures that are no numbers") {
  Recording run;
  run.goodput = std::numeric_limits<double>::quiet_NaN();
  run.p95 = std::numeric_limits<double>::infinity();
  const std::string text = summary(run, nullptr);
  CHECK(line_with(text, "goodput").ends_with(" -"));
  CHECK(line_with(text, "p95").ends_with(" -"));
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

}  // namespace spillway::simulate
