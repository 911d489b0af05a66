// What the guaranteed shares of the lower classes cost the highest one, beside min_share 0.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

Recording play(Scenario scenario, double min_share, std::uint64_t seed) {
  scenario.seed = seed;
  for (std::size_t c = 1; c < scenario.config.classes.size(); ++c)
    scenario.config.classes[c].min_share = min_share;
  return simulate(scenario, true);
}

// P0 asks for `part` of the 800 per second of 16 slots of 20 ms, the others for all of it each.
Scenario crowded(double part, const std::string& discipline) {
  const auto client = [](const char* name, double rate) {
    return std::string(R"({"class":")") + name + R"(","rate":)" + std::to_string(rate) + "}";
  };
  return scenario_of(R"("clients":[)" + client("P0", 800 * part) + "," + client("P1", 800) + "," +
                         client("P2", 800) + "]",
                     R"(,"dispatch":{"discipline":")" + discipline + R"("})");
}

void show(const std::string& name, const Recording& with, const Recording& without) {
  for (std::size_t c = 0; c < with.classes.size(); ++c) {
    MESSAGE(name, " P", c, ": success ", with.classes[c].success,
            " (min_share 0: ", without.classes[c].success, "), p99 ", with.classes[c].p99, " s (",
            without.classes[c].p99, " s)");
  }
}

}  // namespace

TEST_CASE("guaranteed shares leave P0 what it asks for in the built-in scenarios") {
  for (const char* name : {"spike", "capacity-drop"}) {
    CAPTURE(name);
    double gain = 0;  // of P1
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(seed);
      const Recording with = play(open_good(name), 0.05, seed);
      const Recording without = play(open_good(name), 0, seed);
      show(name, with, without);
      CHECK(with.classes[0].success >= 0.999);
      CHECK(with.classes[0].p99 <= 1.05 * without.classes[0].p99);
      gain += with.classes[1].success - without.classes[1].success;
      CHECK(with.goodput >= without.goodput - 0.005);
    }
    CHECK(gain / 3 >= -0.005);
  }
}

TEST_CASE("P0 below four fifths of the capacity is served beside two classes that crowd in") {
  for (const char* discipline : {"wfq", "pq"}) {
    CAPTURE(discipline);
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(seed);
      const Recording with = play(crowded(0.79, discipline), 0.05, seed);
      const Recording without = play(crowded(0.79, discipline), 0, seed);
      show(discipline, with, without);
      CHECK(with.classes[0].success >= 0.999);
      CHECK(with.classes[0].p99 <= 0.1);
      for (const std::size_t c : {1, 2})  // of 800 per second each
        CHECK(with.classes[c].success >= 0.05 * 0.9);
      // More than it can have beside the shares of the others.
      CHECK(play(crowded(1.2, discipline), 0.05, seed).classes[0].success < 0.93 / 1.2);
    }
  }
}

TEST_CASE("by strict priority P2 starves without a guaranteed share") {
  const Recording with = play(crowded(1.5, "pq"), 0.05, 1);
  const Recording without = play(crowded(1.5, "pq"), 0, 1);
  show("pq at 1.5", with, without);
  CHECK(with.classes[2].success == doctest::Approx(0.05).epsilon(0.1));
  CHECK(with.classes[1].success == doctest::Approx(0.05).epsilon(0.1));
  CHECK(without.classes[2].success < 0.001);
  CHECK(without.classes[1].success < 0.001);
}

}  // namespace spillway::simulate
