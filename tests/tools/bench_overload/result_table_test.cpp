#include "bench/overload/result_table.hpp"

#include <doctest/doctest.h>

#include "tools/bench_overload/made_up.hpp"

using namespace spillway;
using namespace spillway::bench;
using namespace spillway::bench::test;

namespace {

Result with(std::string_view contender, int succeeded, int repetition = 1) {
  Result result = result_of("capacity-known", contender, repetition);
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, ok(), Milliseconds(20),
         succeeded);
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, denied("QUEUE_FULL"),
         Milliseconds(2), 800 - succeeded);
  return result;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one run is shown with its error") {
  const std::vector<Result> results{with("spillway", 400)};
  const auto text = result_tables(results);
  CAPTURE(text);
  CHECK(has(text, "capacity-known, 2 x 800 requests a second"));
  CHECK(has(text, "\nspillway           |0.500±0.049 |  50.00±3.46   20   20 |"));
}

TEST_CASE("of several runs the median is shown") {
  const std::vector<Result> results{with("spillway", 400, 1), with("spillway", 80, 2),
                                    with("spillway", 480, 3)};
  const auto text = result_tables(results);
  CAPTURE(text);
  CHECK(has(text, "\nspillway           |      0.500 |       50.00   20   20 |"));
}

TEST_CASE("contenders of a load share a table and failures are named in it") {
  std::vector<Result> results{with("haproxy-tuned", 400), with("spillway", 400),
                              with("haproxy-tuned", 500, 2)};
  results[1].failure = "it ended";
  results.push_back(with("spillway", 100));
  results.back().cell.load = 4;
  const auto text = result_tables(results);
  CAPTURE(text);
  CHECK(has(text, "\nspillway           | failed: it ended\n"));
  CHECK(has(text, "capacity-known, 4 x 800"));
  CHECK(text.find("haproxy-tuned") == text.rfind("haproxy-tuned"));
  CHECK(text.find("capacity-known, 2") == text.rfind("capacity-known, 2"));
}

TEST_CASE("a contender that did not recover is shown with the time that was watched") {
  std::vector<Result> results{with("spillway", 400)};
  results[0].recovery = Recovery{.seconds = 40, .within_cell = false};
  CHECK(has(result_tables(results), ">40 "));
  results[0].recovery = Recovery{.seconds = 1.4};
  CHECK(has(result_tables(results), " 1.4 "));
  CHECK_FALSE(has(result_tables(results), ">1.4"));
}

TEST_CASE("no results make no table") { CHECK(result_tables({}).empty()); }
