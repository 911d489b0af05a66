// Tenants that share one class: turns by deficit round robin, tiers of API keys.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// No state but NORMAL: nothing is refused but by the queue, and tenants differ in its order alone.
const std::string kNoThresholds =
    R"(,"overload":{"enter":{"inflight_ratio":null,"queue_ratio":null,"queue_wait_p95_ms":null,)"
    R"("event_loop_lag_ms":null,"error_rate":null}})";

// Twice the capacity in one class; one tenant offers ten times as much as each of nine others.
Scenario one_of_ten(bool fairness, std::uint64_t seed, const std::string& overload) {
  Scenario scenario =
      scenario_of(R"("clients":[{"class":"P1","tenant":"heavy","rate":842,"timeout_ms":1000},)"
                  R"({"class":"P1","tenant":"light","tenants":9,"rate":758,"timeout_ms":1000}])",
                  overload);
  scenario.config.tenants.fairness = fairness;
  scenario.seed = seed;
  return scenario;
}

std::uint64_t served(const Recording& recording, const std::string& tenant) {
  for (const TenantSummary& one : recording.tenants) {
    if (one.name == tenant) return one.served;
  }
  return 0;
}

}  // namespace

TEST_CASE("the queue alone shares a class among tenants, where first in first out does not") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording fair = simulate(one_of_ten(true, seed, kNoThresholds), true);
    CHECK(fair.jain >= 0.98);
    CHECK(fair.goodput >= 0.98);
    const Recording fifo = simulate(one_of_ten(false, seed, kNoThresholds), true);
    MESSAGE("fair jain ", fair.jain, " goodput ", fair.goodput, "; fifo ", fifo.jain, " ",
            fifo.goodput);
    CHECK(fifo.jain < 0.5);
  }
}

TEST_CASE("with the shipped thresholds it is fair too") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording fair = simulate(one_of_ten(true, seed, ""), true);
    CHECK(fair.jain >= 0.98);
    CHECK(fair.goodput >= 0.98);
  }
}

TEST_CASE("a tenant of weight three gets three times what its equals get") {
  const auto play = [](bool fairness) {
    Scenario scenario =
        scenario_of(R"("clients":[{"class":"P1","tenant":"gold","rate":800,"timeout_ms":1000},)"
                    R"({"class":"P1","tenant":"iron","rate":800,"timeout_ms":1000}])",
                    R"(,"tenants":{"api_keys":[{"name":"gold","key":"gold-key-1","weight":3}]})");
    scenario.config.tenants.fairness = fairness;
    const Recording run = simulate(scenario, true);
    return static_cast<double>(served(run, "gold")) / static_cast<double>(served(run, "iron"));
  };
  CHECK(play(true) == doctest::Approx(3).epsilon(0.1));
  CHECK(play(false) == doctest::Approx(1).epsilon(0.1));  // negative control
}

// Two equal tenants, each of them with as many requests as would fill the upstream; the routes of
// one take 15 times as long. By count each would get as many requests: a sixteenth of the time.
TEST_CASE("equal tenants get equal times of the upstream, not equal counts") {
  const auto play = [](std::uint64_t seed, bool fairness, const std::string& weights) {
    Scenario scenario = scenario_of(
        R"("clients":[{"class":"P1","tenant":"cheap","route":"cheap","rate":3000,"timeout_ms":2000,)"
        R"("service_factor":0.2},)"
        R"({"class":"P1","tenant":"dear","route":"dear","rate":600,"timeout_ms":2000,)"
        R"("service_factor":3}])",
        R"(,"routes":[{"name":"cheap","match":{"path":"/c"},"class":"P1"},)"
        R"({"name":"dear","match":{"path":"/d"},"class":"P1"}],)"
        R"("tenants":{"api_keys":[{"name":"cheap","key":"cheap-key"},)"
        R"({"name":"dear","key":"dear-key-1","weight":)" +
            weights + "}]}");
    scenario.seed = seed;
    scenario.config.tenants.fairness = fairness;
    return simulate(scenario, true);
  };
  const auto times = [](const Recording& run) {
    return 15 * double(served(run, "dear")) / double(served(run, "cheap"));
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording equal = play(seed, true, "1");
    CHECK(equal.goodput >= 0.98);
    CHECK(equal.jain >= 0.98);
    CHECK(times(equal) == doctest::Approx(1).epsilon(0.1));
    const Recording third = play(seed, true, "3");
    CHECK(third.jain >= 0.98);
    CHECK(times(third) == doctest::Approx(3).epsilon(0.1));
    CHECK(times(play(seed, false, "1")) > 1.5);
  }
}

TEST_CASE("a tier's class and rate limit are played") {
  const Scenario scenario = scenario_of(
      R"("clients":[{"class":"P2","rate":1600},{"route":"api","tenant":"gold","rate":100},)"
      R"({"route":"api","tenant":"trial","rate":100}])",
      R"(,"routes":[{"name":"api","match":{"path":"/api/**"},"class":"P2"}],)"
      R"("tenants":{"api_keys":[{"name":"gold","key":"gold-key-1","class":"P0"},)"
      R"({"name":"trial","key":"trial-key","class":"P0","budget":{"rate":20,"burst":5}}]})");
  const Recording run = simulate(scenario, true);
  CHECK(run.classes[0].counts.offered > 2800);
  CHECK(served(run, "gold") > 1400);
  CHECK(served(run, "trial") == doctest::Approx(15 * 20).epsilon(0.05));
}

}  // namespace spillway::simulate
