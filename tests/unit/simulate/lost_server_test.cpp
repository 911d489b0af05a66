// Two equal servers behind one upstream, asked for twice their capacity: one refuses connections
// from 30 s to 60 s.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

constexpr std::size_t kLost = 30, kBack = 60;

Recording play(const std::string& concurrency, std::uint64_t seed, bool loses = true) {
  const std::string changes =
      R"("changes":[{"at_seconds":30,"until_seconds":60,"server":2,"refused_rate":1}],)";
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":90,"warm_up_seconds":15,"backend":{)"
      R"("service_ms":20,"sigma":0.5,"servers":[{"slots":16},{"slots":16}]},)" +
      (loses ? changes : "") +
      R"("clients":[{"class":"P0","timeout_ms":1000,"rate":320},)"
      R"({"class":"P1","timeout_ms":1000,"rate":960},{"class":"P2","timeout_ms":1000,"rate":1920}],)"
      R"("config":{"upstreams":[{"name":"app","servers":["h:1","h:2"],"dispatch":{"concurrency":)" +
      concurrency + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

struct Limits {
  std::uint32_t least = UINT32_MAX, most = 0;
};
// At the ends of these seconds.
Limits limits(const Recording& recording, std::size_t from, std::size_t until) {
  Limits out;
  for (std::size_t s = from; s < until; ++s) {
    out.least = std::min(out.least, recording.seconds[s].limit);
    out.most = std::max(out.most, recording.seconds[s].limit);
  }
  return out;
}

}  // namespace

TEST_CASE("a fixed number falls by the part of a server that is lost, at once, and comes back") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Recording recording = play("32", seed);
    CHECK(limits(recording, 15, kLost).least == 32);
    const Limits lost = limits(recording, kLost, kBack);
    CHECK(lost.least == 16);
    CHECK(lost.most <= 17);  // one request tries whether it is back
    CHECK(recording.seconds[kBack + 10].limit == 32);
    CHECK(recording.classes[0].success > 0.999);
  }
}

TEST_CASE("a limit that is found falls by a half and is not sought anew when the server is back") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording recording = play("\"auto\"", seed);
    const Limits before = limits(recording, 20, kLost), lost = limits(recording, kLost, kBack),
                 after = limits(recording, kBack + 11, 90);
    CHECK(before.least >= 26);
    CHECK(before.most <= 50);
    CHECK(lost.least >= 12);
    CHECK(lost.most <= 26);
    CHECK(after.least >= 26);
    CHECK(after.most <= 50);
    CHECK(recording.classes[0].success > 0.999);
  }
}

}  // namespace spillway::simulate
