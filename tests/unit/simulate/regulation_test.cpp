// The latency regulator in closed loop: 40 slots x 100 ms behind a `concurrency` five times too
// high, at 1.5 times the capacity. The negative control is `"regulate": false`, where the rules
// refuse their share for tail latency.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Load {
  int enter_ms = 500, exit_ms = 350;
  bool regulate = true;
  std::string concurrency = "200";
  double rate = 600;  // 400 per second is the capacity
  std::string changes;
  std::string rules = "{}";
};

Recording play(const Load& load, std::uint64_t seed, int timeout_ms = 3000, int warm_up = 5) {
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":)" + std::to_string(timeout_ms) +
           R"(,"rate":)" + std::to_string(load.rate * part) + "}";
  };
  const std::string overload = R"("overload":{"regulate":)" +
                               std::string(load.regulate ? "true" : "false") +
                               R"(,"enter":{"latency_p95_ms":)" + std::to_string(load.enter_ms) +
                               R"(},"exit":{"latency_p95_ms":)" + std::to_string(load.exit_ms) +
                               R"(},"rules":)" + load.rules + "}";
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":60,"warm_up_seconds":)" +
      std::to_string(warm_up) + R"(,"backend":{"slots":40,"service_ms":100,"sigma":0.5},)" +
      load.changes + R"("clients":[)" + clients("P0", 1 / 12.0) + "," + clients("P1", 3 / 12.0) +
      "," + clients("P2", 8 / 12.0) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],"dispatch":{"concurrency":)" +
      load.concurrency + "}," + overload + "}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

int seconds_in_vain(const Recording& recording) {
  return static_cast<int>(
      std::ranges::count(recording.seconds, Reason::shedding_does_not_help, &Second::reason));
}

}  // namespace

// Latency falls because the budget holds P2 back.
TEST_CASE("a budget holds its class for as long as that would bring the overload back") {
  const std::string budget = R"({"P2":{"strategy":"deny","budget":{"rate":20,"burst":5}}})";
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play({.rules = budget}, seed);
    CHECK(run.changes.size() <= 2);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.classes[1].success >= 0.995);
    CHECK(run.classes[2].success < 0.07);  // of 400 a second the budget is 0.05

    const Recording textbook = play({.regulate = false, .rules = budget}, seed);
    CHECK(textbook.changes.size() > 10);
    CHECK(textbook.classes[2].success > 0.2);
  }
}

// The mean of two seconds reaches the threshold, and the capacity, by chance again and again.
TEST_CASE("a budget costs its class nothing while the upstream can do what is offered") {
  const std::string budget = R"({"P2":{"strategy":"allow","budget":{"rate":60,"burst":60}}})";
  for (const double load : {0.9, 0.95}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(load);
      CAPTURE(seed);
      Load told{.concurrency = "40", .rate = load * 400, .rules = budget};
      const Recording run = play(told, seed);
      CHECK(run.changes.size() <= 3);  // as without a budget
      CHECK(run.classes[0].success == 1);
      CHECK(run.classes[1].success >= 0.9999);
      CHECK(run.classes[2].success >= 0.97);

      told.regulate = false;
      CHECK(play(told, seed).classes[2].success < 0.95);
    }
  }
  // It is the contract of an overload, whatever else the upstream could do then.
  const Load over{.concurrency = "40", .rate = 600, .rules = budget};
  CHECK(play(over, 1).classes[2].success == doctest::Approx(60 / 400.0).epsilon(0.05));
}

TEST_CASE("a latency threshold gives the latency back and costs no throughput") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play({}, seed);
    CHECK(run.goodput >= 0.99);
    CHECK(run.changes.size() <= 2);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.classes[1].success >= 0.97);
    CHECK(run.classes[2].success >= 0.45);
    CHECK(run.classes[0].p95 <= 0.5);

    const Recording textbook = play({.regulate = false}, seed);
    CHECK(textbook.goodput < 0.8);
    CHECK(textbook.changes.size() > 10);
    CHECK(textbook.classes[1].success < 0.8);
  }
}

TEST_CASE("a threshold below the unloaded p95 does not take the site down") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play({.enter_ms = 200, .exit_ms = 150}, seed);
    CHECK(run.goodput >= 0.97);
    CHECK(seconds_in_vain(run) >= 25);
    CHECK(run.changes.size() <= 2);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.classes[1].success >= 0.96);
    CHECK(play({.enter_ms = 200, .exit_ms = 150, .regulate = false}, seed).goodput < 0.5);
  }
}

TEST_CASE("a threshold that the limit found cannot meet is told, and refuses nothing") {
  const Recording run =
      play({.enter_ms = 200, .exit_ms = 150, .concurrency = "\"auto\"", .rate = 120}, 1);
  CHECK(run.goodput >= 0.29);  // of 0.3
  CHECK(seconds_in_vain(run) >= 30);
  for (const auto& each : run.classes) CHECK(each.success == 1);
}

TEST_CASE("a slow backend with free slots refuses no request") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording run = play({.enter_ms = 150, .exit_ms = 120, .rate = 280}, seed);
    for (const ClassSummary& each : run.classes) CHECK(each.success >= 0.9999);
    const Recording textbook =
        play({.enter_ms = 150, .exit_ms = 120, .regulate = false, .rate = 280}, seed);
    CHECK(textbook.classes[2].success < 0.5);
  }
}

TEST_CASE("clients that leave a backend with far too many slots are served again") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Load load{.enter_ms = 300, .exit_ms = 220, .concurrency = "2000", .rate = 800};
    const Recording run = play(load, seed, 1000);
    CHECK(run.goodput >= 0.8);
    CHECK(play(load, seed, 1000, 20).classes[0].p95 <= 0.4);  // once the abandoned ones are gone
    Load unlimited = load;
    unlimited.enter_ms = 100'000;
    unlimited.exit_ms = 90'000;
    CHECK(play(unlimited, seed, 1000).goodput < 0.1);
  }
}

}  // namespace spillway::simulate
