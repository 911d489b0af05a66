// One client that asks for what always fails, 11 requests a second beside 44 good ones, in closed
// loop. The negative controls: an upstream that fails for all, and the same requests from a new
// address each, which are no single source: then others are refused for them, until it is seen that
// this does not help.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

constexpr std::uint64_t kSeeds[] = {1, 2, 3};

// Of the good requests: those of the bad kind are P1's, too.
std::uint64_t refused(const Recording& run) {
  std::uint64_t sum = 0;
  for (const ClassSummary& each : run.classes) sum += each.counts.denied;
  return sum;
}

}  // namespace

TEST_CASE("a client that asks for what fails costs others no request") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    Scenario scenario = open_good("failing-client");
    scenario.seed = seed;
    const Recording run = simulate(scenario, true);
    CHECK(run.changes.empty());
    CHECK(refused(run) == 0);
    CHECK(run.classes[0].success > 0.999);
    CHECK(run.classes[2].success > 0.999);

    for (Clients& each : scenario.clients) each.addresses = 0;
    const Recording unknown = simulate(scenario, true);
    CHECK_FALSE(unknown.changes.empty());
    CHECK(refused(unknown) > 100);
  }
}

// The control is above: the same requests, of no tenant. In the proxy addresses of one network are.
TEST_CASE("from a new address each, but of one tenant, they cost others no request") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    Scenario scenario = open_good("failing-client");
    scenario.seed = seed;
    for (Clients& each : scenario.clients) each.addresses = 0;
    scenario.clients.back().tenant = "network";
    const Recording run = simulate(scenario, true);
    CHECK(run.changes.empty());
    CHECK(refused(run) == 0);
    CHECK(run.classes[0].success > 0.999);
    CHECK(run.classes[2].success > 0.999);
  }
}

TEST_CASE("from a new address each they cost others little in the long run") {
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    Scenario scenario = open_good("failing-client");
    scenario.seed = seed;
    scenario.seconds = 600;
    for (Clients& each : scenario.clients) each.addresses = 0;
    const Recording run = simulate(scenario, true);
    const auto part = [&](std::size_t i) {
      return double(run.classes[i].counts.denied) / double(run.classes[i].counts.offered);
    };
    MESSAGE("denied of P1: ", part(1), ", of P2: ", part(2));
    CHECK(part(0) == 0);
    CHECK(part(1) < 0.1);
    CHECK(part(2) < 0.2);
  }
}

TEST_CASE(
    "a route of its own says so of many clients, with a fifth of the requests and with two "
    "thirds") {
  for (const double rate : {11.0, 44.0}) {
    for (const std::uint64_t seed : kSeeds) {
      CAPTURE(rate);
      CAPTURE(seed);
      Scenario scenario = open_good("failing-client");
      scenario.seed = seed;
      config::Route broken = scenario.config.routes.back();
      broken.name = "broken";
      scenario.config.routes.insert(scenario.config.routes.begin(), broken);
      Clients& bad = scenario.clients.back();
      bad.route = RouteId{0};
      bad.addresses = 0;
      bad.rate = rate;
      bad.from = 5;  // before there are answers of others, all count
      const Recording run = simulate(scenario, true);
      CHECK(run.changes.empty());
      CHECK(refused(run) == 0);
    }
  }
}

TEST_CASE("an upstream that fails for all is in ERROR_BURST as soon as there are answers enough") {
  // Clients of no tenant, of one for each class, and all of one.
  for (const int tenants : {0, 3, 1}) {
    for (const std::uint64_t seed : kSeeds) {
      CAPTURE(tenants);
      CAPTURE(seed);
      Scenario scenario = open_good("failing-client");
      scenario.seed = seed;
      for (Clients& each : scenario.clients) {
        if (tenants > 0) each.tenant = "network";
        if (tenants > 1) each.tenant += std::to_string(each.rate);
      }
      scenario.config.upstreams[0].ejection.consecutive_failures = 0;
      scenario.changes = {{.at = 20, .until = 40, .error_rate = 1, .error_after = 1}};
      const Recording run = simulate(scenario, true);
      REQUIRE_FALSE(run.changes.empty());
      CHECK(run.changes.front().reason == Reason::error_burst);
      CHECK(run.changes.front().at > 20);
      CHECK(run.changes.front().at < 21.2);
      CHECK(refused(run) > 50);
      CHECK(run.seconds[55].state == State::normal);
    }
  }
}

}  // namespace spillway::simulate
