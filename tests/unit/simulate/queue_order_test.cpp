// Whose turn it is, in closed loop: clients that wait for less than a queue is long, and that
// retry. The negative control is the order of arrival.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

using config::OverloadOrder;

// 16 slots x 20 ms at ten times their load, of which P0 asks for 0.7 of what they can do. For four
// seconds they are ten times slower. Clients leave after 150 ms and retry up to five times.
Scenario storm(OverloadOrder order, std::uint64_t seed) {
  const auto clients = [&](const char* name, int rate, bool honours) {
    return std::string(R"({"class":")") + name + R"(","rate":)" + std::to_string(rate) +
           R"(,"timeout_ms":150,"retries":5,"retry_backoff_ms":200,"honours_retry_after":)" +
           (honours ? "true}" : "false}");
  };
  Scenario scenario =
      scenario_of(R"("changes":[{"at_seconds":8,"until_seconds":12,"speed":0.1}],"clients":[)" +
                  clients("P0", 560, true) + "," + clients("P1", 1320, true) + "," +
                  clients("P1", 1320, false) + "," + clients("P2", 2400, true) + "," +
                  clients("P2", 2400, false) + "]");
  scenario.seconds = 28;
  scenario.warm_up_seconds = 18;  // judged are the seconds after the stall
  config::Dispatch& dispatch = scenario.config.upstreams[0].dispatch;
  dispatch.concurrency = 64;  // four times too high: 64 at work are 80 ms
  dispatch.overload_order = order;
  scenario.seed = seed;
  return scenario;
}

}  // namespace

TEST_CASE("a stall whose clients retry ends where the newest goes first, and else does not") {
  for (const std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    const Recording adaptive = simulate(storm(OverloadOrder::adaptive, seed), true);
    CHECK(adaptive.goodput >= 0.9);
    CHECK(adaptive.classes[0].success >= 0.95);
    const Recording fifo = simulate(storm(OverloadOrder::fifo, seed), true);
    CHECK(fifo.goodput < 0.3);
    CHECK(fifo.classes[0].success < 0.1);
    MESSAGE("after the stall P0: ", adaptive.classes[0].success, ", in order of arrival ",
            fifo.classes[0].success);
  }
}

TEST_CASE("clients that wait are served in order of arrival") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const auto play = [&](OverloadOrder order) {
      Scenario scenario = scenario_of(
          R"("clients":[{"class":"P0","rate":160,"timeout_ms":3000},)"
          R"({"class":"P1","rate":480,"timeout_ms":3000},{"class":"P2","rate":960,"timeout_ms":3000}])");
      scenario.config.upstreams[0].dispatch.overload_order = order;
      scenario.seed = seed;
      return simulate(scenario, true);
    };
    const Recording adaptive = play(OverloadOrder::adaptive), fifo = play(OverloadOrder::fifo);
    for (std::size_t c = 0; c < adaptive.classes.size(); ++c) {
      CHECK(adaptive.classes[c].success == fifo.classes[c].success);
      CHECK(adaptive.classes[c].p99 == fifo.classes[c].p99);
    }
  }
}

// With "auto" clients leave in the first seconds only, until the limit is found.
TEST_CASE("once clients stay the order of arrival comes back within an overload") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Scenario scenario = scenario_of(
        R"("clients":[{"class":"P0","rate":160,"timeout_ms":150},)"
        R"({"class":"P1","rate":480,"timeout_ms":150},{"class":"P2","rate":960,"timeout_ms":150}])");
    scenario.seconds = 60;
    scenario.warm_up_seconds = 20;
    scenario.config.upstreams[0].dispatch.concurrency = config::Dispatch{}.concurrency;
    scenario.seed = seed;
    const Recording run = simulate(scenario, true);
    MESSAGE("P1 ", run.classes[1].success, ", P2 ", run.classes[2].success);
    CHECK(run.classes[1].success >= 0.96);
  }
}

// The price of `lifo`, as config/README.md has it: those that newer ones overtake wait in vain.
TEST_CASE("newest first from the beginning refuses late") {
  for (const double load : {1.2, 2.0}) {
    const auto play = [&](OverloadOrder order) {
      std::string clients;
      for (const auto& [name, part] : {std::pair{"P0", 0.1}, {"P1", 0.3}, {"P2", 0.6}}) {
        clients += std::string(clients.empty() ? "" : ",") + R"({"class":")" + name +
                   R"(","timeout_ms":1000,"rate":)" + std::to_string(800 * load * part) + "}";
      }
      Scenario scenario = scenario_of(R"("clients":[)" + clients + "]");
      scenario.seconds = 40;
      scenario.config.upstreams[0].dispatch.overload_order = order;
      const Recording run = simulate(scenario, true);
      double late = 0, refused = 0;
      for (const ClassSummary& one : run.classes) {
        late += static_cast<double>(one.counts.expired);
        refused += static_cast<double>(one.counts.expired + one.counts.denied);
      }
      MESSAGE(load, " times the capacity: of the refused ", late / refused, " had waited, P1 ",
              run.classes[1].success, ", P2 ", run.classes[2].success);
      return std::pair(late / refused, run.classes[1].success);
    };
    CHECK(play(OverloadOrder::adaptive) < std::pair(0.01, 0.0));
    const auto [late, p1] = play(OverloadOrder::lifo);
    CHECK(late > (load < 2 ? 0.3 : 0.05));
    CHECK(late < (load < 2 ? 0.6 : 0.12));
    CHECK(p1 > (load < 2 ? 0.995 : 0.94));
  }
}

}  // namespace spillway::simulate
