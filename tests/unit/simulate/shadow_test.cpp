// What shadow mode counts beside what enforcing refuses, of the same requests.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// 16 slots x 20 ms, that is 800 requests per second, asked by three classes 10 : 30 : 60.
Scenario load(double rate, int concurrency, const std::string& more = "") {
  const auto client = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":1000,"rate":)" +
           std::to_string(rate * part) + "}";
  };
  Scenario scenario = scenario_of(more + R"("clients":[)" + client("P0", 0.1) + "," +
                                  client("P1", 0.3) + "," + client("P2", 0.6) + "]");
  scenario.seconds = 40;
  scenario.config.upstreams[0].dispatch.concurrency = static_cast<std::uint32_t>(concurrency);
  return scenario;
}

struct Refused {
  double enforced = 0, counted = 0;
  std::size_t transitions = 0;  // in shadow mode

  double error() const { return std::abs(counted / enforced - 1); }
};

Refused compare(Scenario scenario, std::uint64_t seed) {
  scenario.seed = seed;
  Refused out;
  for (const ClassSummary& each : simulate(scenario, true).classes) {
    out.enforced += static_cast<double>(each.counts.denied + each.counts.expired);
  }
  scenario.config.upstreams[0].overload.mode = config::Mode::shadow;
  const Recording shadow = simulate(scenario, true);
  for (const ClassSummary& each : shadow.classes) {
    out.counted += static_cast<double>(each.counts.would_deny);
    CHECK(each.counts.denied == 0);
  }
  out.transitions = shadow.changes.size();
  MESSAGE("enforced ", out.enforced, ", counted in shadow ", out.counted);
  return out;
}

}  // namespace

TEST_CASE("shadow mode counts within a tenth of what enforcing refuses") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    CHECK(compare(load(1600, 16), seed).error() < 0.1);  // 2 x
    CHECK(compare(load(3200, 16), seed).error() < 0.1);  // 4 x
    CHECK(compare(load(1600, 64), seed).error() < 0.1);  // too high
    Scenario low = load(600, 8);                         // too low: room beyond the slots
    CHECK(compare(low, seed).error() < 0.1);
  }
}

// Of 1.2 times the capacity a sixth is refused: a service time that is learned 3 % too short makes
// that a seventh.
TEST_CASE("shadow mode counts within a tenth what lanes, short queues and a step refuse") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    CHECK(compare(load(960, 16), seed).error() < 0.1);
    CHECK(compare(load(2400, 16), seed).error() < 0.1);
    Scenario cap = load(960, 16);
    cap.config.classes[1].max_inflight = 4;
    CHECK(compare(cap, seed).error() < 0.1);
    Scenario lane = load(960, 16);
    lane.config.classes[0].reserved = 4;
    CHECK(compare(lane, seed).error() < 0.1);
    Scenario queues = load(960, 16);
    queues.config.classes[1].max_queue = queues.config.classes[2].max_queue = 8;
    CHECK(compare(queues, seed).error() < 0.1);
    Scenario step = load(400, 16);
    for (std::size_t i = 0; i < 3; ++i) {
      step.clients.push_back(step.clients[i]);
      step.clients.back().rate *= 1.4;
      step.clients.back().from = 15;
    }
    CHECK(compare(step, seed).error() < 0.1);
  }
}

// What a budget refuses takes no slot, so that the load would seem to be over.
TEST_CASE("a budget is rehearsed as it will be") {
  for (const double rate : {960.0, 1200.0, 1600.0}) {
    CAPTURE(rate);
    Scenario scenario = load(rate, 16);
    scenario.config.upstreams[0].overload.rules.back().budget =
        config::Budget{.rate = 40, .burst = 40};
    const Refused refused = compare(scenario, 1);
    CHECK(refused.error() < 0.1);
    CHECK(refused.transitions <= 1);
  }
}

// In shadow mode no two limits can be compared. Against the first one of 64 half of the second load
// would be refused.
TEST_CASE("shadow mode counts about what enforcing refuses where the limit is to be found") {
  for (const std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    Scenario large = load(1600, 16);
    large.backend.slots = 64;
    for (Clients& each : large.clients) each.rate *= 4;
    large.config.upstreams[0].dispatch.concurrency = config::AutoConcurrency{};
    CHECK(compare(large, seed).error() < 0.1);
    large.backend.slots = 256;
    CHECK(compare(large, seed).counted < 0.01 * 6400 * 35);
  }
}

TEST_CASE("shadow mode counts little where enforcing refuses little") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    CHECK(compare(load(640, 16), seed).counted < 0.005 * 640 * 35);
  }
}

TEST_CASE("shadow mode counts no refusal in whose place something prepared is sent") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Scenario prepared = load(1600, 16);
    for (config::Rule& rule : prepared.config.upstreams[0].overload.rules)
      rule.strategy = config::Strategy::degrade;
    const double refused = compare(prepared, seed).counted;
    for (config::Route& route : prepared.config.routes) route.fallback.emplace();
    const Refused none = compare(prepared, seed);
    CHECK(none.enforced < 0.03 * refused);  // those that waited in vain
    CHECK(none.counted < 0.03 * refused);
  }
}

}  // namespace spillway::simulate
