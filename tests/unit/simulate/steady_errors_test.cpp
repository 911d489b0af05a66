// Errors that load does not cause, of every class alike, before thresholds below them: 40 slots x
// 100 ms, half of them idle, in closed loop. No class gains by what another is refused.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

Recording play(double errors, double threshold, std::uint64_t seed, bool regulate = true) {
  const auto clients = [&](const char* name, int rate) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":2000,"error_rate":)" +
           std::to_string(errors) + R"(,"rate":)" + std::to_string(rate) + "}";
  };
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":600,"warm_up_seconds":10,)"
      R"("backend":{"slots":40,"service_ms":100,"sigma":0.5},"clients":[)" +
      clients("P0", 20) + "," + clients("P1", 60) + "," + clients("P2", 120) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],)"
      R"("dispatch":{"concurrency":40},"overload":{"enter":{"error_rate":)" +
      std::to_string(threshold) + R"(},"exit":{"error_rate":)" + std::to_string(threshold / 2) +
      R"(},"regulate":)" + (regulate ? "true" : "false") + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

double denied(const Recording& run, std::size_t i) {
  return double(run.classes[i].counts.denied) / double(run.classes[i].counts.offered);
}

}  // namespace

TEST_CASE("errors that load does not cause cost no class much, however few they are") {
  for (const auto& [errors, threshold] : {std::pair{0.02, 0.01}, {0.06, 0.05}}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(errors);
      CAPTURE(seed);
      const Recording run = play(errors, threshold, seed);
      MESSAGE("denied of P1: ", denied(run, 1), ", of P2: ", denied(run, 2), ", transitions ",
              run.changes.size());
      CHECK(denied(run, 0) == 0);
      CHECK(denied(run, 1) < 0.05);
      CHECK(denied(run, 2) < 0.12);
      CHECK(run.changes.size() <= 20);  // two a minute
    }
    CHECK(denied(play(errors, threshold, 1, false), 2) > 0.5);
  }
}

}  // namespace spillway::simulate
