// Tail latency against its own quiet p95, as shipped, in closed loop: twenty quiet seconds, then
// what each case says. The negative control has the two thresholds off.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Case {
  double load;  // of 40 slots x 100 ms
  int concurrency = 40;
  std::string changes = "";
};

const std::string kFiveTimesSlower =
    R"("changes":[{"at_seconds":30,"until_seconds":60,"speed":0.2}],)";

std::string clients_of(const char* name, double part, double load) {
  const auto rate = [&](double of) { return std::to_string(400 * part * of); };
  const std::string begin = std::string(R"({"class":")") + name + R"(","timeout_ms":1000,"rate":)";
  return begin + rate(0.3) + R"(,"until_seconds":20},)" + begin + rate(load) +
         R"(,"from_seconds":20})";
}

Recording play(const Case& one, bool with_ratio, std::uint64_t seed) {
  const std::string off =
      R"(,"overload":{"enter":{"latency_p95_ratio":null},"exit":{"latency_p95_ratio":null}})";
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":80,"warm_up_seconds":20,)"
      R"("backend":{"slots":40,"service_ms":100,"sigma":0.5},)" +
      one.changes + R"("clients":[)" + clients_of("P0", 0.1, one.load) + "," +
      clients_of("P1", 0.3, one.load) + "," + clients_of("P2", 0.6, one.load) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],"dispatch":{"concurrency":)" +
      std::to_string(one.concurrency) + "}}]" + (with_ratio ? "" : off) + "}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

}  // namespace

TEST_CASE("a number eight times too high is seen by its tail latency, without any threshold told") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Case one{.load = 2, .concurrency = 320};
    const Recording with = play(one, true, seed), without = play(one, false, seed);
    CHECK(with.changes.front().reason == Reason::tail_latency);
    CHECK(with.goodput >= 0.99);
    CHECK(with.classes[0].success >= 0.998);
    CHECK(with.classes[0].p99 < 0.85 * without.classes[0].p99);
    CHECK(without.changes.front().reason != Reason::tail_latency);
    CHECK(without.goodput < 0.97);
    CHECK(with.changes.size() <= 2);
  }
}

TEST_CASE("a slow backend is an overload by its tail latency, and no request pays for saying so") {
  for (const double load : {0.1, 0.4}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(load);
      CAPTURE(seed);
      const Case one{.load = load, .changes = kFiveTimesSlower};
      const Recording with = play(one, true, seed), without = play(one, false, seed);
      REQUIRE(with.changes.size() == 2);
      CHECK(with.changes[0].reason == Reason::tail_latency);
      CHECK(with.changes[1].to == State::normal);
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(with.classes[c].success >= without.classes[c].success - 0.005);
    }
  }
}

TEST_CASE("a steady load of any size below the capacity is no tail latency") {
  for (const double load : {0.3, 0.6, 0.9}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(load);
      const Recording run = play({.load = load}, true, seed);
      for (const auto& change : run.changes) CHECK(change.reason != Reason::tail_latency);
    }
  }
}

}  // namespace spillway::simulate
