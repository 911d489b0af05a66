// Which classes are refused for lack of room, in closed loop: backends of 16 x 20 ms with their
// true number of slots and the shipped rules. The negative control is `"regulate": false`.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

Recording play(double times, std::uint64_t seed, bool regulate = true) {
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":3000,"rate":)" +
           std::to_string(times * 800 * part) + "}";
  };
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":60,"warm_up_seconds":5,)"
      R"("backend":{"slots":16,"service_ms":20,"sigma":0.5},"clients":[)" +
      clients("P0", 0.1) + "," + clients("P1", 0.3) + "," + clients("P2", 0.6) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],)"
      R"("dispatch":{"concurrency":16},"overload":{"regulate":)" +
      (regulate ? "true" : "false") + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

}  // namespace

TEST_CASE(
    "the middle class loses nothing at twice the capacity while the lowest has more to give") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play(2, seed);
    CHECK(run.goodput >= 0.99);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.classes[1].success >= 0.99);
    CHECK(run.classes[2].success >= 0.15);
    CHECK(run.changes.size() <= 2);
    CHECK(play(2, seed, false).classes[1].success < 0.96);
  }
}

TEST_CASE("the lowest class keeps its guaranteed share at four times the capacity") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play(4, seed);
    CHECK(run.goodput >= 0.99);
    CHECK(run.classes[0].success >= 0.999);
    // 5 % of 800 per second, of 1920 that are asked for.
    CHECK(run.classes[2].success == doctest::Approx(0.05 * 800 / 1920).epsilon(0.5));
    CHECK(run.classes[1].success > play(4, seed, false).classes[1].success);
  }
}

TEST_CASE("just below the capacity hardly a request is refused") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play(0.95, seed);
    CHECK(run.classes[0].success >= 0.9999);
    CHECK(run.classes[1].success >= 0.9999);
    CHECK(run.classes[2].success >= 0.98);
    CHECK(run.changes.size() <= 2);
    CHECK(play(0.95, seed, false).classes[2].success < run.classes[2].success);
  }
}

}  // namespace spillway::simulate
