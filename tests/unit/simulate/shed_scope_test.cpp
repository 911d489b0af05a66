// Which classes are refused for lack of room, in closed loop: backends of 16 x 20 ms with their
// true number of slots and the shipped rules. The negative control is `"regulate": false`.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

constexpr const char* kUnregulated = R"("regulate":false)";
constexpr const char* kMiddleMayBeRefused = R"("rules":{"P1":{"strategy":"deny","probability":1}})";

// What each class asks for, of all.
struct Mix {
  double highest = 0.1, middle = 0.3, lowest = 0.6;
};

Recording play(double times, std::uint64_t seed, const std::string& overload = "",
               const Mix& mix = {}) {
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":3000,"rate":)" +
           std::to_string(times * 800 * part) + "}";
  };
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":60,"warm_up_seconds":5,)"
      R"("backend":{"slots":16,"service_ms":20,"sigma":0.5},"clients":[)" +
      clients("P0", mix.highest) + "," + clients("P1", mix.middle) + "," +
      clients("P2", mix.lowest) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],)"
      R"("dispatch":{"concurrency":16},"overload":{)" +
      overload + "}}]}}";
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
    CHECK(play(2, seed, kUnregulated).classes[1].success < 0.96);
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
    CHECK(run.classes[1].success > play(4, seed, kUnregulated).classes[1].success);
  }
}

// Of 4000 a second 800 are served: P0's 400, P2's 5 % of the turns or a little more, the rest for
// P1, which asks for 1200. That its queue is long does not bring it more.
TEST_CASE("a class that is refused waits for a short time and gets as much") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play(5, seed, kMiddleMayBeRefused);
    CHECK(run.goodput >= 0.99);
    CHECK(run.classes[0].success >= 0.999);
    MESSAGE("p95 of P1 ", run.classes[1].p95, ", served ", run.classes[1].success);
    CHECK(run.classes[1].p95 < 0.12);  // its longest wait is 0.2
    CHECK(run.classes[1].counts.expired < 0.001 * double(run.classes[1].counts.denied));
    CHECK(run.classes[1].success >= 0.28);
    CHECK(run.classes[2].success >= 0.05 * 800 / 2400);
    CHECK(run.changes.size() <= 2);
  }
}

// P0 and P1 ask for 0.92 of the capacity, so that P2 has about its share. What comes at once of P1
// is to find a place in the queue.
TEST_CASE("a class that just fits above the guaranteed share of the lowest loses little") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play(2.5, seed, kMiddleMayBeRefused, {0.12, 0.248, 0.632});
    MESSAGE("P1 served ", run.classes[1].success);
    CHECK(run.goodput >= 0.99);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.classes[1].success >= 0.98);
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
    CHECK(play(0.95, seed, kUnregulated).classes[2].success < run.classes[2].success);
  }
}

}  // namespace spillway::simulate
