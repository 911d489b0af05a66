// What shedding does for each built-in scenario, as bounds that its absence breaks. Over several
// seeds, so that a bound is no accident of one.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/file/load.hpp"
#include "simulate/report/table.hpp"
#include "simulate/run/simulation.hpp"
#include "support/places.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// Of the highest class: seconds.
struct Bounds {
  double success = 0;
  double p95 = 1e9;
};

bool keeps(const Recording& recording, const Bounds& bounds) {
  const ClassSummary& top = recording.classes.front();
  return top.success >= bounds.success && top.p95 <= bounds.p95;
}

struct Runs {
  Recording with, without;
};

std::vector<Runs> play(const std::string& name) {
  std::vector<Runs> out;
  Scenario scenario = open_good(name);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    scenario.seed = seed;
    out.push_back({simulate(scenario, true), simulate(scenario, false)});
  }
  MESSAGE(summary(out.front().with, &out.front().without));
  return out;
}

// With shedding the bounds are kept, without it they are not.
std::vector<Runs> play(const std::string& name, const Bounds& bounds) {
  std::vector<Runs> out = play(name);
  for (const Runs& runs : out) {
    CAPTURE(runs.with.seed);
    CHECK(keeps(runs.with, bounds));
    CHECK_FALSE(keeps(runs.without, bounds));
  }
  return out;
}

double least_success(const Recording& recording, const std::string& tenants) {
  double least = 1;
  for (const TenantSummary& one : recording.tenants) {
    if (!one.name.starts_with(tenants)) continue;
    least = std::min(least, static_cast<double>(one.served) / static_cast<double>(one.offered));
  }
  return least;
}

}  // namespace

TEST_CASE("spike: P0 is served and the queue stays short instead of growing without bound") {
  for (const Runs& runs : play("spike", {.success = 0.999, .p95 = 0.7})) {
    CHECK(runs.with.p95 < 0.7);
    CHECK(runs.with.goodput > 0.98);
    CHECK(runs.with.max_queued <= 512 + 256 + 128);
    CHECK(runs.with.classes[1].success > 0.9);
    CHECK(runs.with.classes[2].success > 0.28);

    CHECK(runs.without.p95 > 5);
    CHECK(runs.without.goodput < 0.6);
    const auto& seconds = runs.without.seconds;
    for (std::size_t s = 10; s < seconds.size(); s += 10) {
      CHECK(seconds[s].queued > seconds[s - 10].queued + 3000);
    }
  }
}

TEST_CASE("slow-backend: P0 is served promptly and the state recovers") {
  for (const Runs& runs : play("slow-backend", {.success = 0.999, .p95 = 0.8})) {
    CHECK(runs.with.classes[1].success > 0.92);
    CHECK(runs.with.classes[2].success > 0.75);
    CHECK(runs.with.seconds[10].state == State::normal);
    CHECK(runs.with.seconds[30].state == State::overloaded);
    CHECK(runs.with.seconds[50].state == State::normal);
    CHECK(runs.without.classes[1].success < 0.9);
  }
}

TEST_CASE("capacity-drop: P0 is served though the concurrency is two and a half times too high") {
  for (const Runs& runs : play("capacity-drop", {.success = 0.999, .p95 = 1.2})) {
    CHECK(runs.with.max_queued < 200);
    CHECK(runs.with.wasted < 0.01);
    CHECK(runs.with.classes[1].success > 0.8);
    CHECK(runs.without.wasted > 0.3);
    CHECK(runs.without.max_queued > 1000);
  }
}

TEST_CASE("noisy-tenant: the noisy tenant is cut and the quiet ones are served") {
  for (const Runs& runs : play("noisy-tenant", {.success = 0.999, .p95 = 0.6})) {
    CHECK(runs.with.jain > 0.99);
    CHECK(least_success(runs.with, "quiet") > 0.95);
    CHECK(least_success(runs.with, "noisy") < 0.35);
    CHECK(runs.without.jain < 0.8);
    CHECK(least_success(runs.without, "quiet") < 0.4);
  }
}

TEST_CASE("noisy-tenant: without fairness the quiet tenants lose to the noisy one") {
  Scenario scenario = open_good("noisy-tenant");
  scenario.config.tenants.fairness = false;
  const Recording recording = simulate(scenario, true);
  CHECK(recording.jain < 0.8);
  CHECK(least_success(recording, "quiet") < 0.5);
}

TEST_CASE("retry-storm is over soon after the stall where it would last for ever") {
  for (const Runs& runs : play("retry-storm", {.success = 0.7})) {
    const auto served_at_end = [](const Recording& recording, std::size_t c) {
      std::uint64_t offered = 0, served = 0;
      for (std::size_t s = 40; s < 58; ++s) {
        offered += recording.seconds[s].classes[c].offered;
        served += recording.seconds[s].classes[c].served;
      }
      return static_cast<double>(served) / static_cast<double>(offered);
    };
    CHECK(served_at_end(runs.with, 0) > 0.99);
    CHECK(served_at_end(runs.with, 1) > 0.98);
    CHECK(runs.with.goodput > 0.75);
    CHECK(served_at_end(runs.without, 0) < 0.05);
    CHECK(runs.without.wasted > 0.7);
    CHECK(runs.without.goodput < 0.25);
  }
}

TEST_CASE("bursty: bulk traffic waits instead of delaying every class") {
  for (const Runs& runs : play("bursty", {.success = 0.99, .p95 = 0.5})) {
    CHECK(runs.with.classes[1].success > 0.99);
    CHECK(runs.with.classes[1].p95 < 0.5);
    CHECK(runs.with.classes[2].success > 0.6);
    CHECK(runs.with.goodput > runs.without.goodput);
  }
}

TEST_CASE("mix-shift: P0 is served when requests become expensive") {
  for (const Runs& runs : play("mix-shift", {.success = 0.999, .p95 = 0.4})) {
    CHECK(runs.with.goodput > 0.8);
    CHECK(runs.with.classes[1].success > 0.6);
    CHECK(runs.without.classes[1].success < 0.6);
    CHECK(runs.without.goodput < 0.6);
  }
}

TEST_CASE("latency-target: the threshold gives back latency that more threads cost") {
  double told = 0, ignored = 0;
  for (const Runs& runs : play("latency-target", {.success = 0.999, .p95 = 0.62})) {
    CHECK(runs.with.goodput > 0.97);
    CHECK(runs.with.changes.size() <= 4);
    CHECK(runs.with.classes[1].success > 0.94);
    Scenario loose = open_good("latency-target");
    loose.seed = runs.with.seed;
    loose.config.upstreams[0].overload.enter.latency_p95.reset();
    const Recording untold = simulate(loose, true);
    CHECK(untold.classes[0].p95 > 0.62);
    CHECK(untold.goodput > 0.97);
    told += runs.with.classes[0].p95;
    ignored += untold.classes[0].p95;
  }
  CHECK(told < 0.8 * ignored);
}

TEST_CASE("number-too-high: the queue leaves the backend and no throughput is lost") {
  for (const Runs& runs : play("number-too-high", {.success = 0.999, .p95 = 0.5})) {
    CHECK(runs.with.goodput > 0.97);
    CHECK(runs.with.changes.size() <= 2);
    CHECK(runs.with.classes[1].success > 0.8);
    Scenario blind = open_good("number-too-high");
    blind.seed = runs.with.seed;
    blind.config.upstreams[0].overload.enter.latency_p95.reset();
    CHECK(simulate(blind, true).classes[0].p95 > 0.5);
  }
}

// The one scenario that is better off without shedding: no rule repairs a number that is too low.
TEST_CASE("number-too-low: the highest class does not pay for what the others lose") {
  for (const Runs& runs : play("number-too-low")) {
    CHECK(runs.with.classes[0].success > 0.999);
    CHECK(runs.without.classes[2].success == 1);
    Scenario right = open_good("number-too-low");
    right.seed = runs.with.seed;
    right.config.upstreams[0].dispatch.concurrency = right.backend.slots;
    CHECK(simulate(right, true).classes[2].success > 0.999);
  }
}

TEST_CASE("budget: the class with a budget gets it, and the classes above are served") {
  const auto served = [](const Recording& run) {
    return static_cast<double>(run.classes[2].counts.served) / 55;
  };
  for (const Runs& runs : play("budget", {.success = 0.999, .p95 = 0.4})) {
    CHECK(runs.with.classes[1].success > 0.98);
    CHECK(served(runs.with) < 1.2 * 60);
    Scenario open_end = open_good("budget");
    open_end.seed = runs.with.seed;
    open_end.config.upstreams[0].overload.rules[2].budget.reset();
    CHECK(served(simulate(open_end, true)) > 1.6 * 60);
  }
}

TEST_CASE("error-burst: the failing server is left out and few requests meet it") {
  for (const Runs& runs : play("error-burst", {.success = 0.997, .p95 = 0.3})) {
    for (const ClassSummary& each : runs.with.classes) CHECK(each.success > 0.997);
    CHECK(runs.with.changes.empty());
    CHECK(runs.without.classes[1].counts.failed > 500);
    Scenario trusting = open_good("error-burst");
    trusting.seed = runs.with.seed;
    trusting.config.upstreams[0].ejection.consecutive_failures = 0;
    CHECK(simulate(trusting, true).classes[0].success < 0.95);
  }
}

// Without Spillway there is no event loop to lag: the control is Spillway without the threshold.
TEST_CASE("lag: the highest class is served while the event loop has more than it can do") {
  for (const Runs& runs : play("lag")) {
    CHECK(runs.with.classes[0].success > 0.999);
    CHECK(runs.with.classes[0].p95 < 0.36);  // the backend takes 0.11
    CHECK(runs.with.seconds[55].state == State::normal);
    Scenario blind = open_good("lag");
    blind.seed = runs.with.seed;
    blind.config.upstreams[0].overload.enter.event_loop_lag.reset();
    CHECK(simulate(blind, true).classes[0].success < 0.7);
  }
}

TEST_CASE("cached-reads: stored answers are given before any request is refused") {
  for (const Runs& runs : play("cached-reads", {.success = 0.999, .p95 = 0.6})) {
    CHECK(runs.with.classes[1].success > 0.95);
    CHECK(runs.with.classes[1].counts.cached > runs.with.classes[1].counts.served / 2);
    CHECK(runs.with.goodput > 0.8);
    Scenario empty = open_good("cached-reads");
    empty.seed = runs.with.seed;
    for (config::Route& route : empty.config.routes) route.cache.reset();
    CHECK(simulate(empty, true).classes[1].success < 0.7);
  }
}

TEST_CASE("the ladder example reaches the intended states without oscillating") {
  const auto config = config::load_file(support::in_source("config/examples/ladder.json")).config;
  REQUIRE(config.has_value());
  const auto states = [&](const std::string& name, std::uint64_t seed) {
    ScenarioResult result = open_scenario(name, &*config);
    REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
    result.scenario->seed = seed;
    std::vector<State> out;
    for (const StateChange& change : simulate(*result.scenario, true).changes) {
      out.push_back(change.to);
    }
    return out;
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    CHECK(states("spike", seed) == std::vector{State::elevated, State::overloaded});
    const std::vector<State> storm = states("retry-storm", seed);
    CHECK(std::ranges::find(storm, State::critical) != storm.end());
    CHECK(storm.back() < State::critical);
    CHECK(storm.size() <= 12);
  }
}

}  // namespace spillway::simulate
