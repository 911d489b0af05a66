#include "bench/overload/result_line.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <sstream>

#include "tools/bench_overload/made_up.hpp"

using namespace spillway;
using namespace spillway::bench;
using namespace spillway::bench::test;
using nlohmann::json;

namespace {

std::vector<json> lines(const Result& result) {
  std::vector<json> parsed;
  std::istringstream text(result_lines(result));
  for (std::string line; std::getline(text, line);) parsed.push_back(json::parse(line));
  return parsed;
}

Result some_result() {
  Result result = result_of();
  happen(result.tally, {.at = kFrom, .kind = 0, .phase = kMeasured}, ok(), Milliseconds(20), 80);
  happen(result.tally, {.at = kFrom, .kind = 1, .phase = kMeasured}, denied("QUEUE_FULL"),
         Milliseconds(2), 30);
  happen(result.tally, {.at = kFrom, .kind = 1, .phase = kMeasured}, denied("EVICTED"),
         Milliseconds(50), 10);
  result.wasted_ratio = 0.25;
  return result;
}

}  // namespace

TEST_CASE("a result is a line for each class that sent something and one for all") {
  const auto all = lines(some_result());
  REQUIRE(all.size() == 3);
  CHECK(all[0]["class"] == "P0");
  CHECK(all[1]["class"] == "P1");
  CHECK(all[2]["class"] == "all");
  for (const json& line : all) {
    CHECK(line["suite"] == "overload");
    CHECK(line["scenario"] == "capacity-known");
    CHECK(line["load"] == 2);
    CHECK(line["contender"] == "spillway");
    CHECK(line["repetition"] == 1);
    CHECK(line["capacity_rps"] == 800);
    CHECK_FALSE(line.contains("failure"));
    CHECK_FALSE(line.contains("recovery_s"));
    CHECK_FALSE(line.contains("jain"));
  }
  CHECK(all[0]["succeeded"] == 80);
  CHECK(all[0]["p99_ms"] == 20);
  CHECK(all[0]["goodput_ratio"] == 0.1);
  CHECK(all[0]["denied_on_arrival_p99_ms"].is_null());  // not measured is not zero
  CHECK(all[1]["p50_ms"].is_null());
  CHECK(all[1]["denied"] == 30);
  CHECK(all[1]["evicted"] == 10);
  CHECK(all[1]["timed_out"] == 0);
  CHECK(all[1]["denied_on_arrival_p99_ms"] == 2);
  CHECK(all[2]["offered"] == 120);
  CHECK(all[2]["wasted_ratio"] == 0.25);
}

TEST_CASE("a disturbed cell says when it was as before and one with tenants how even") {
  Result result = result_of("noisy-tenant");
  result.recovery = Recovery{.seconds = 1.5};
  happen(result.tally, {.at = kFrom, .kind = 1, .phase = kMeasured, .tenant = 1}, ok(),
         Milliseconds(20), 10);
  happen(result.tally, {.at = kFrom, .kind = 1, .phase = kMeasured, .tenant = kNoisyTenant}, ok(),
         Milliseconds(20), 10);
  const auto all = lines(result);
  REQUIRE(all.size() == 4);
  CHECK(all[1]["tenant"] == "quiet-1");
  CHECK(all[2]["tenant"] == "noisy");
  CHECK(all[3]["recovery_s"] == 1.5);
  CHECK(all[3]["recovered"] == true);
  CHECK(all[3]["jain"] == 1);
}

TEST_CASE("a failed cell is one line that says why and has no figures") {
  Result result = some_result();
  result.failure = "it ended: \"no\"\n";
  const auto all = lines(result);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["failure"] == result.failure);
  CHECK_FALSE(all[0].contains("succeeded"));
}
