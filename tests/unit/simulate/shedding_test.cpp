// What shedding does to a backend of 16 slots x 20 ms, that is 800 requests per second, asked by
// three classes 10 : 30 : 60. Each claim has a negative control that breaks it.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/gate_drive.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

constexpr double kCapacity = 800;

// Refusals that do not look at free slots. cache_only denies on a miss, and here nothing is stored.
const std::string kNaive =
    R"(,"overload":{"regulate":false,
               "rules":{"P1":{"strategy":"degrade","mode":"cache_only"},
                        "P2":{"strategy":"degrade","mode":"cache_only"}}})";

std::string client(const std::string& name, double rate, const std::string& more = "") {
  return R"({"class":")" + name + R"(","rate":)" + std::to_string(rate) + more + "}";
}

std::string clients(double load) {
  const double rate = load * kCapacity;
  return R"("clients":[)" + client("P0", 0.1 * rate) + "," + client("P1", 0.3 * rate) + "," +
         client("P2", 0.6 * rate) + "]";
}

Recording at_load(double load, const std::string& config_members = "") {
  Scenario scenario = scenario_of(clients(load), config_members);
  scenario.seconds = 60;
  Recording run = simulate(scenario, true);
  MESSAGE("load ", load, ": goodput ", run.goodput, ", P0 ", run.classes[0].success, ", P1 ",
          run.classes[1].success, ", P2 ", run.classes[2].success, ", changes ",
          run.changes.size());
  return run;
}

GateRun gate_at(double load, const std::string& config_members = "") {
  Scenario scenario = scenario_of(clients(load), config_members);
  scenario.seconds = 60;
  return GateDrive(scenario).run();
}

}  // namespace

TEST_CASE("below capacity no request is refused") {
  const Recording run = at_load(0.8);
  for (const ClassSummary& one : run.classes) {
    CHECK(one.counts.offered > 3000);
    CHECK(one.counts.served == one.counts.offered);
  }
}

TEST_CASE("near capacity shedding keeps the backend busy while naive rules waste capacity") {
  const Recording ours = at_load(0.95);
  CHECK(ours.classes[0].success > 0.999);
  CHECK(ours.classes[1].success > 0.999);
  CHECK(ours.classes[2].success > 0.92);

  const Recording naive = at_load(0.95, kNaive);
  CHECK(naive.classes[1].success < 0.9);
  CHECK(naive.classes[2].success < 0.75);
  CHECK(naive.goodput < ours.goodput - 0.1);
}

TEST_CASE("at twice capacity the backend stays busy and the state steady") {
  const Recording ours = at_load(2);
  CHECK(ours.goodput > 0.97);
  CHECK(ours.classes[0].success > 0.999);
  CHECK(ours.classes[1].success > 0.99);
  CHECK(ours.classes[2].success > 0.15);
  CHECK(ours.changes.size() == 1);

  // Naive rules drain the backend, which leaves OVERLOADED and fills up again.
  const Recording naive = at_load(2, kNaive);
  CHECK(naive.goodput < 0.85);
  CHECK(naive.classes[1].success < 0.8);
  CHECK(naive.changes.size() > 10);
}

TEST_CASE("at six times capacity the lowest class still gets a share") {
  const Recording ours = at_load(6);
  CHECK(ours.goodput > 0.97);
  CHECK(ours.classes[0].success > 0.999);
  CHECK(ours.classes[2].success > 0.9 * 0.05 / (6 * 0.6));  // of its min_share of the capacity

  Scenario strict = scenario_of(clients(6), R"(,"dispatch":{"discipline":"pq"})");
  for (config::TrafficClass& one : strict.config.classes) one.min_share = 0;
  CHECK(simulate(strict, true).classes[2].success < 0.001);
}

TEST_CASE("no request is refused beside a free slot except by naive rules") {
  for (const double load : {0.8, 0.95, 1.2, 2.0, 6.0}) {
    CAPTURE(load);
    const GateRun run = gate_at(load);
    CHECK(run.refused_beside_free_slot == 0);
    if (load > 1) CHECK(run.refused > 1000);
  }
  CHECK(gate_at(2, kNaive).refused_beside_free_slot > 1000);
}

TEST_CASE("waits are as predicted within a quarter") {
  for (const double load : {0.95, 2.0, 6.0}) {
    const GateRun run = gate_at(load);
    MESSAGE("predicted ", run.predicted_seconds, " s, waited ", run.waited_seconds, " s");
    CHECK(run.predicted_seconds / run.waited_seconds > 0.8);
    CHECK(run.predicted_seconds / run.waited_seconds < 1.25);
  }
}

TEST_CASE("the prediction refuses at once what would expire in the queue") {
  // Clients leave after their class's default max_wait_ms; only the first gate knows it.
  const std::string leaving = R"("clients":[)" + client("P0", 160, R"(,"timeout_ms":500)") + "," +
                              client("P1", 480, R"(,"timeout_ms":200)") + "," +
                              client("P2", 960, R"(,"timeout_ms":100)") + "]";
  const std::string allow =
      R"(,"overload":{"rules":{"P1":{"strategy":"allow"},"P2":{"strategy":"allow"}}})";
  const auto classes = [](const std::string& more0, const std::string& more1,
                          const std::string& more2) {
    return R"(,"classes":[{"name":"P0","weight":8,"max_queue":512)" + more0 +
           R"(},{"name":"P1","weight":3,"max_queue":256)" + more1 +
           R"(},{"name":"P2","weight":1,"max_queue":128)" + more2 + "}]";
  };
  const std::string patient = R"(,"max_wait_ms":60000,"sla_ms":60000)";
  const Recording told = simulate(
      scenario_of(leaving, allow + classes(R"(,"max_wait_ms":500)", R"(,"max_wait_ms":200)",
                                           R"(,"max_wait_ms":100)")),
      true);
  const Recording untold =
      simulate(scenario_of(leaving, allow + classes(patient, patient, patient)), true);
  const ClassCounts& with = told.classes[2].counts;
  const ClassCounts& without = untold.classes[2].counts;
  MESSAGE("P2 with prediction: ", with.denied, " denied, ", with.expired,
          " expired; without: ", without.denied, " denied, ", without.expired, " expired");
  CHECK(with.denied > 9 * with.expired);
  CHECK(without.expired > 9 * with.expired);
}

TEST_CASE("a top class that fills the backend alone keeps nearly all of it by dynamic weight") {
  const std::string thirds = R"("clients":[)" + client("P0", 792) + "," + client("P1", 792) + "," +
                             client("P2", 816) + "]";
  const Recording shared = simulate(scenario_of(thirds), true);
  Scenario all_for_the_top = scenario_of(thirds);
  for (config::TrafficClass& one : all_for_the_top.config.classes) one.min_share = 0;
  const Recording dynamic = simulate(all_for_the_top, true);
  const Recording fixed =
      simulate(scenario_of(thirds, R"(,"dispatch":{"dynamic_weights":false})"), true);
  MESSAGE("P0 dynamic ", dynamic.classes[0].success, ", beside guaranteed shares ",
          shared.classes[0].success, ", fixed ", fixed.classes[0].success);
  CHECK(dynamic.classes[0].success > 0.93);
  CHECK(shared.classes[0].success > 0.9);  // of 0.99 of the capacity 0.9
  CHECK(fixed.classes[0].success < 0.75);
  CHECK(dynamic.classes[1].counts.served > 0);
  CHECK(dynamic.classes[2].counts.served > 0);
}

// Its rule was to allow it: a seventh of the refused had waited, and were evicted from a full
// queue.
TEST_CASE("a single class is refused on arrival") {
  for (const double load : {1.2, 2.0, 4.0}) {
    CAPTURE(load);
    Scenario scenario =
        scenario_of(R"("clients":[)" + client("A", load * kCapacity) + "]",
                    R"(,"classes":[{"name":"A","max_queue":128,"max_wait_ms":300}])");
    scenario.seconds = 60;
    const Recording run = simulate(scenario, true);
    const ClassCounts& counts = run.classes[0].counts;
    CHECK(counts.expired < 0.01 * static_cast<double>(counts.denied));
    CHECK(run.goodput > 0.99);
    scenario.config.upstreams[0].overload.rules[0].strategy = config::Strategy::allow;
    CHECK(simulate(scenario, true).classes[0].counts.expired > 1000);
  }
}

}  // namespace spillway::simulate
