// The decision core under load: 16 slots x 20 ms, classes offered 10 : 30 : 60.
#include <doctest/doctest.h>

#include "unit/control/toy_simulation.hpp"

using namespace spillway;
using namespace spillway::control;

namespace {

Result at_load(double load, Shedding shedding = Shedding::work_conserving) {
  Setup setup;
  setup.load = load;
  setup.shedding = shedding;
  Result result = simulate(setup);
  MESSAGE("load ", load, ": goodput ", result.goodput, ", P0 ", result.classes[0].success(),
          ", P1 ", result.classes[1].success(), ", P2 ", result.classes[2].success());
  return result;
}

std::uint64_t refused(const ClassResult& c) {
  return c.denied + c.wait_risk + c.queue_full + c.gave_up + c.evicted;
}

}  // namespace

TEST_CASE("below capacity nobody is refused") {
  const Result result = at_load(0.8);
  for (const ClassResult& c : result.classes) {
    CHECK(c.offered > 3000);
    CHECK(refused(c) == 0);
  }
}

TEST_CASE("near capacity a refusal needs a queue while naive rules throw capacity away") {
  const Result ours = at_load(0.95);
  CHECK(ours.time_overloaded > 0.9);
  CHECK(ours.classes[0].success() == 1);
  CHECK(ours.classes[1].success() > 0.999);
  CHECK(ours.classes[2].success() > 0.92);

  const Result naive = at_load(0.95, Shedding::naive);
  CHECK(naive.classes[1].success() < 0.9);
  CHECK(naive.classes[2].success() < 0.75);
  CHECK(naive.goodput < ours.goodput - 0.1);
}

TEST_CASE("at twice capacity the upstream stays busy with the highest classes") {
  const Result ours = at_load(2);
  CHECK(ours.goodput > 0.97);
  CHECK(ours.classes[0].success() > 0.999);
  CHECK(ours.classes[1].success() > 0.92);
  CHECK(ours.classes[2].success() > 0.17);
  CHECK(ours.transitions == 0);

  // Denying by rule alone drains the upstream, which leaves OVERLOADED and fills up again.
  const Result naive = at_load(2, Shedding::naive);
  CHECK(naive.goodput < 0.85);
  CHECK(naive.classes[1].success() < 0.8);
  CHECK(naive.classes[2].success() < 0.12);
  CHECK(naive.transitions > 10);
}

TEST_CASE("at six times capacity the lowest class still gets its share") {
  const Result ours = at_load(6);
  CHECK(ours.goodput > 0.97);
  CHECK(ours.classes[0].success() > 0.999);
  CHECK(ours.classes[2].success() > 0.02);

  const Result naive = at_load(6, Shedding::naive);
  CHECK(naive.classes[2].success() < 0.001);
}

TEST_CASE("nobody is refused while a slot is free except by naive rules") {
  for (const double load : {0.8, 0.95, 1.2, 2.0, 6.0})
    CHECK(at_load(load).refused_beside_free_slot == 0);
  CHECK(at_load(2, Shedding::naive).refused_beside_free_slot > 1000);
}

TEST_CASE("predicted waits are those that follow within a quarter") {
  for (const double load : {0.95, 2.0, 6.0}) {
    const Result result = at_load(load);
    MESSAGE("predicted ", result.predicted_seconds, " s, waited ", result.waited_seconds, " s");
    CHECK(result.predicted_seconds / result.waited_seconds > 0.8);
    CHECK(result.predicted_seconds / result.waited_seconds < 1.25);
  }
}

TEST_CASE("the prediction refuses at once those who would wait in vain") {
  Setup setup;
  setup.load = 2;
  setup.shedding = Shedding::off;
  const Result with = simulate(setup);
  setup.gate_knows_patience = false;
  const Result without = simulate(setup);
  const ClassResult& told = with.classes[2];
  const ClassResult& untold = without.classes[2];
  MESSAGE("P2 gave up: ", told.gave_up, " with prediction, ", untold.gave_up, " without; wasted ",
          told.wait_seconds_wasted, " s and ", untold.wait_seconds_wasted, " s");
  CHECK(with.goodput > 0.97);
  CHECK(told.wait_risk > 9 * told.gave_up);
  CHECK(untold.wait_risk == 0);
  CHECK(untold.gave_up > 9 * told.gave_up);
  CHECK(untold.wait_seconds_wasted > 9 * told.wait_seconds_wasted);
}

TEST_CASE("a top class that fills the upstream alone keeps nearly all of it by dynamic weight") {
  Setup setup;
  setup.load = 3;
  setup.mix = {0.33, 0.33, 0.34};  // P0 alone offers 99 % of the capacity
  const Result dynamic = simulate(setup);
  setup.config.upstreams[0].dispatch.dynamic_weights = false;
  const Result fixed = simulate(setup);
  MESSAGE("P0 dynamic ", dynamic.classes[0].success(), ", fixed ", fixed.classes[0].success(),
          "; P2 dynamic ", dynamic.classes[2].success());
  CHECK(dynamic.classes[0].success() > 0.93);
  CHECK(fixed.classes[0].success() < 0.75);
  CHECK(dynamic.classes[2].served > 0);
  CHECK(dynamic.classes[1].served > 0);
}

TEST_CASE("the same seed gives the same run") {
  Setup setup;
  setup.load = 2;
  setup.duration = std::chrono::seconds(5);
  const Result a = simulate(setup);
  const Result b = simulate(setup);
  CHECK(a.goodput == b.goodput);
  CHECK(a.classes[2].denied == b.classes[2].denied);
  setup.seed = 2;
  CHECK(simulate(setup).classes[2].denied != a.classes[2].denied);
}
