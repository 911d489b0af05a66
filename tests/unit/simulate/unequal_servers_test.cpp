// Servers with 32, 8 and 16 slots behind one upstream, asked for twice their capacity: the first
// one takes twice as long from 40 s to 60 s, the last one refuses connections from 70 s to 90 s.
#include <doctest/doctest.h>

#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

constexpr double kWithoutThird = 40.0 / 56;

Recording play(const std::string& concurrency, std::uint64_t seed) {
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":125,"warm_up_seconds":20,"backend":{)"
      R"("service_ms":40,"sigma":0.5,"servers":[{"slots":32},{"slots":8},{"slots":16}]},)"
      R"("changes":[{"at_seconds":40,"until_seconds":60,"server":1,"speed":0.5},)"
      R"({"at_seconds":70,"until_seconds":90,"server":3,"refused_rate":1}],)"
      R"("clients":[{"class":"P0","timeout_ms":1000,"rate":280},)"
      R"({"class":"P1","timeout_ms":1000,"rate":840},{"class":"P2","timeout_ms":1000,"rate":1680}],)"
      R"("config":{"upstreams":[{"name":"app","servers":["h:1","h:2","h:3"],)"
      R"("dispatch":{"concurrency":)" +
      concurrency + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

// Of what the three could do, in these seconds.
double useful(const Recording& recording, std::size_t from, std::size_t until) {
  const WorkDone &begin = recording.seconds[from - 1].work,
                 &end = recording.seconds[until - 1].work;
  return (end.useful - begin.useful) / (end.available - begin.available);
}

}  // namespace

TEST_CASE("with a limit that is found servers of different size do together what they can") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording recording = play("\"auto\"", seed);
    CHECK(useful(recording, 25, 40) > 0.96);
    CHECK(useful(recording, 42, 60) > 0.93);
    CHECK(useful(recording, 72, 90) > 0.93 * kWithoutThird);
    CHECK(useful(recording, 72, 90) <= kWithoutThird);
    CHECK(useful(recording, 105, 125) > 0.95);
    CHECK(recording.classes[0].success > 0.998);
  }
}

TEST_CASE("equal parts of the true number keep the largest of different servers idle") {
  const Recording recording = play("56", 1);
  CHECK(useful(recording, 25, 40) < 0.8);
  CHECK(useful(recording, 72, 90) < 0.72 * kWithoutThird);
}

}  // namespace spillway::simulate
