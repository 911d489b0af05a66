// Slots reserved for a class, in closed loop: what they leave is what the other classes are given,
// so that signals and regulation must take it for their capacity. Beside it a gate that has no more
// slots than that.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Site {
  int slots = 64;
  int reserved = 0;  // of them, for P0, which asks for 5 % of what 64 can do
  double times = 1;  // of the capacity of 64
};

Recording play(const Site& site, std::uint64_t seed) {
  const double rate = site.times * 64 / 0.02;
  const auto client = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":3000,"rate":)" +
           std::to_string(rate * part) + "}";
  };
  const std::string classes =
      R"([{"name":"P0","weight":8,"max_queue":512,"max_wait_ms":500,"reserved":)" +
      std::to_string(site.reserved) +
      R"(},{"name":"P1","weight":3,"max_queue":256,"max_wait_ms":200},)"
      R"({"name":"P2","weight":1,"max_queue":128,"max_wait_ms":100}])";
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":40,"warm_up_seconds":5,)"
      R"("backend":{"slots":64,"service_ms":20,"sigma":0.5},"clients":[)" +
      client("P0", 0.05) + "," + client("P1", 0.32) + "," + client("P2", 0.63) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],"dispatch":{"concurrency":)" +
      std::to_string(site.slots) + R"(}}],"classes":)" + classes + "}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

// Of those refused, the part that had waited for it.
double in_vain(const Recording& run) {
  double expired = 0, refused = 0;
  for (const ClassSummary& one : run.classes) {
    expired += static_cast<double>(one.counts.expired);
    refused += static_cast<double>(one.counts.expired + one.counts.denied);
  }
  return refused > 0 ? expired / refused : 0;
}

}  // namespace

TEST_CASE("idle reserved slots keep no other class waiting in vain") {
  for (const double times : {0.8, 1.2, 2.0}) {
    CAPTURE(times);
    const Recording run = play({.reserved = 16, .times = times}, 1);
    CHECK(run.classes[0].success >= 0.999);
    CHECK(run.changes.size() <= 2);
    CHECK_FALSE(run.changes.empty());  // 48 slots are too few for the others
    CHECK(in_vain(run) < 0.01);
    // P1 loses nothing while P2 is served, as behind a gate without the slots that idle.
    const Recording smaller = play({.slots = 48, .times = times}, 1);
    CHECK(run.classes[1].success >= smaller.classes[1].success - 0.01);
    CHECK(run.goodput >= smaller.goodput - 0.01);
  }
}

}  // namespace spillway::simulate
