// Deadlines of 150 ms at twice the capacity: what cannot be answered in time is not begun. And the
// newest first, for clients that do not wait.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// Requests of which all classes wait as long as they may: only their deadlines limit the queue.
const std::string kNoThresholds =
    R"(,"overload":{"enter":{"inflight_ratio":null,"queue_ratio":null,"queue_wait_p95_ms":null,)"
    R"("event_loop_lag_ms":null,"error_rate":null}})";

constexpr std::array<std::uint64_t, 5> kSeeds{1, 2, 3, 4, 5};

struct Play {
  int service_ms = 50;
  bool deadline_aware = true;
  std::string overload = kNoThresholds;
  double load = 2;  // of the capacity of 16 slots
};

Recording play(const Play& what, std::uint64_t seed) {
  const double capacity = 16'000.0 / what.service_ms;
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":150,"deadline_ms":150,"rate":)" +
           std::to_string(capacity * what.load * part) + "}";
  };
  Scenario scenario = scenario_of(R"("clients":[)" + clients("P0", 0.1) + "," + clients("P1", 0.3) +
                                      "," + clients("P2", 0.6) + "]",
                                  what.overload);
  scenario.backend.service = Milliseconds(what.service_ms);
  scenario.backend.sigma = 0.5;
  scenario.config.upstreams[0].dispatch.deadline_aware = what.deadline_aware;
  scenario.seed = seed;
  return simulate(scenario, true);
}

}  // namespace

TEST_CASE("the time that a route takes counts towards the deadline, or work is done in vain") {
  struct Aim {
    int service_ms;
    double with, without;  // useful backend time: at least, at most
  };
  for (const Aim& aim : {Aim{20, 0.97, 0.945}, Aim{50, 0.85, 0.75}}) {
    CAPTURE(aim.service_ms);
    double with = 0, without = 0;  // means; a run may be lucky
    for (const std::uint64_t seed : kSeeds) {
      CAPTURE(seed);
      const Recording aware = play({.service_ms = aim.service_ms}, seed);
      const Recording unaware = play({.service_ms = aim.service_ms, .deadline_aware = false}, seed);
      with += aware.goodput / kSeeds.size();
      without += unaware.goodput / kSeeds.size();
      CHECK(aware.classes[0].success >= unaware.classes[0].success - 0.005);
      CHECK(aware.classes[1].success >= unaware.classes[1].success);
    }
    MESSAGE("service ", aim.service_ms, " ms: useful ", with, " of the time, ", without,
            " by the wait alone");
    CHECK(with >= aim.with);
    CHECK(without <= aim.without);
  }
}

TEST_CASE("beside the shipped thresholds deadlines do no harm") {
  for (const double load : {0.8, 2.0}) {
    CAPTURE(load);
    double goodput = 0;  // means of the gain; a single run differs by chance
    std::array<double, 3> success{};
    for (const std::uint64_t seed : kSeeds) {
      const Recording with = play({.overload = "", .load = load}, seed);
      const Recording without = play({.deadline_aware = false, .overload = "", .load = load}, seed);
      goodput += (with.goodput - without.goodput) / kSeeds.size();
      for (std::size_t c = 0; c < success.size(); ++c)
        success[c] += (with.classes[c].success - without.classes[c].success) / kSeeds.size();
    }
    CHECK(goodput >= -0.005);
    for (const double gain : success) CHECK(gain >= -0.01);
  }
}

TEST_CASE("the newest first serves those that are still there where all may wait") {
  const auto run = [](config::OverloadOrder order, std::uint64_t seed) {
    Scenario scenario = scenario_of(
        R"("clients":[{"class":"P0","rate":160,"timeout_ms":150},)"
        R"({"class":"P1","rate":480,"timeout_ms":150},{"class":"P2","rate":960,"timeout_ms":150}])",
        R"(,"overload":{"rules":{"P1":{"strategy":"allow"},"P2":{"strategy":"allow"}}})");
    scenario.config.upstreams[0].dispatch.overload_order = order;
    scenario.seed = seed;
    return simulate(scenario, true);
  };
  double with = 0, without = 0;  // useful backend time, means
  for (const std::uint64_t seed : kSeeds) {
    CAPTURE(seed);
    const Recording newest = run(config::OverloadOrder::lifo, seed);
    const Recording oldest = run(config::OverloadOrder::fifo, seed);
    with += newest.goodput / kSeeds.size();
    without += oldest.goodput / kSeeds.size();
    CHECK(newest.classes[1].p95 < 0.8 * oldest.classes[1].p95);
    CHECK(newest.classes[0].success >= 0.999);
  }
  MESSAGE("newest first: useful ", with, " of the time, in order of arrival ", without);
  CHECK(with >= 0.99);
  CHECK(without <= 0.93);
}

}  // namespace spillway::simulate
