// Few or slow slots in closed loop: default longest waits follow how long a slot is held, beside
// the same waits written down, which hold (the negative control). 10 : 30 : 60 of the load is P0,
// P1, P2.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

enum class Longest : bool { left_out, written_down };

struct Load {
  int slots = 8;
  int service_ms = 2000;
  double times = 2;  // of the capacity
  std::string concurrency = std::to_string(slots);
  double patience = 5;  // of the clients, in requests
  std::string changes = "[]";
  int seconds = 400;
};

Recording play(const Load& load, Longest waits, std::uint64_t seed) {
  const double rate = load.times * load.slots * 1000 / load.service_ms;
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":)" +
           std::to_string(static_cast<int>(load.patience * load.service_ms)) + R"(,"rate":)" +
           std::to_string(rate * part) + "}";
  };
  const std::string classes =
      waits == Longest::left_out
          ? ""
          : R"(,"classes":[{"name":"P0","max_wait_ms":500},)"
            R"({"name":"P1","max_wait_ms":200},{"name":"P2","max_wait_ms":100}])";
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":)" + std::to_string(load.seconds) +
      R"(,"warm_up_seconds":40,"backend":{"slots":)" + std::to_string(load.slots) +
      R"(,"service_ms":)" + std::to_string(load.service_ms) + R"(,"sigma":0.5},"changes":)" +
      load.changes + R"(,"clients":[)" + clients("P0", 0.1) + "," + clients("P1", 0.3) + "," +
      clients("P2", 0.6) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],"dispatch":{"concurrency":)" +
      load.concurrency + "}}]" + classes + "}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

double success(const Recording& run, std::size_t of_class) { return run.classes[of_class].success; }

// Of the refusals.
double waited_in_vain(const Recording& run) {
  double expired = 0, refused = 0;
  for (const ClassSummary& each : run.classes) {
    expired += double(each.counts.expired);
    refused += double(each.counts.expired + each.counts.denied);
  }
  return refused > 0 ? expired / refused : 0;
}

}  // namespace

TEST_CASE("before few slow slots P0 and P1 wait for as long as a request takes, not in vain") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording follows = play({}, Longest::left_out, seed);
    const Recording fixed = play({}, Longest::written_down, seed);
    CHECK(success(follows, 0) >= 0.98);
    CHECK(success(fixed, 0) <= 0.9);
    CHECK(success(follows, 1) >= 0.75);
    CHECK(success(fixed, 1) <= 0.6);
    CHECK(follows.goodput >= fixed.goodput);
    CHECK(waited_in_vain(follows) <= 0.15);
    CHECK(waited_in_vain(fixed) >= 0.4);
  }
}

TEST_CASE("no one waits for longer because an overload or a slow backend holds slots for longer") {
  const Load too_high{
      .slots = 40, .service_ms = 100, .concurrency = "200", .patience = 20, .seconds = 120};
  const Load slow{.slots = 16,
                  .service_ms = 20,
                  .times = 0.8,
                  .patience = 50,
                  .changes = R"([{"at_seconds":50,"until_seconds":100,"speed":0.05}])",
                  .seconds = 120};
  for (const Load& load : {too_high, slow}) {
    CAPTURE(load.concurrency);
    const Recording follows = play(load, Longest::left_out, 1);
    const Recording fixed = play(load, Longest::written_down, 1);
    for (std::size_t c = 0; c < follows.classes.size(); ++c) {
      CAPTURE(c);
      CHECK(follows.classes[c].counts.served == fixed.classes[c].counts.served);
      CHECK(follows.classes[c].max_wait == fixed.classes[c].max_wait);
    }
  }
}

}  // namespace spillway::simulate
