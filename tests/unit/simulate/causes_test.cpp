// Refusing for what is not want of slots, in closed loop: an event loop with too much to do, errors
// that the load makes, and a class that waits for its own max_inflight.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Play {
  std::string backend;
  int seconds = 60;
  double rate = 0;  // 10 to 30 to 60 of P0, P1 and P2
  int timeout_ms = 1000;
  std::string upstream;  // its members but the name and servers, with a comma before
  std::string config;    // members, with a comma before
  std::string besides;   // members of the scenario, with a comma behind
};

Recording run(const Play& play, std::uint64_t seed) {
  const auto clients = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","timeout_ms":)" +
           std::to_string(play.timeout_ms) + R"(,"rate":)" + std::to_string(play.rate * part) + "}";
  };
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":)" + std::to_string(play.seconds) +
      R"(,"warm_up_seconds":5,"backend":)" + play.backend + "," + play.besides + R"("clients":[)" +
      clients("P0", 0.1) + "," + clients("P1", 0.3) + "," + clients("P2", 0.6) +
      R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"])" + play.upstream + "}]" +
      play.config + "}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return simulate(*result.scenario, true);
}

// An upstream that is never full, behind a loop that can do 2000 a second.
Play before_a_slow_loop(double times) {
  return {.backend = R"({"slots":200,"service_ms":20})",
          .rate = 2000 * times,
          .upstream = R"(,"dispatch":{"concurrency":200})",
          .besides = R"("proxy":{"request_us":500},)"};
}

std::size_t seconds_without_p0(const Recording& recording) {
  const auto& seconds = recording.seconds;
  return static_cast<std::size_t>(
      std::count_if(seconds.begin() + 5, seconds.end(),
                    [](const Second& each) { return each.classes[0].served == 0; }));
}

}  // namespace

// Once its lag stands still nothing that is refused brings it down any more.
TEST_CASE("an event loop with far too much to do goes on to refuse the lower classes") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording recording = run(before_a_slow_loop(1.6), seed);
    CHECK(recording.classes[0].success >= 0.999);
    CHECK(recording.classes[1].success >= 0.48);  // its rule refuses half
    CHECK(recording.changes.size() <= 2);
  }
}

TEST_CASE("a rule that degrades refuses no more misses than the loop has too many") {
  const char* const kMisses = R"({"strategy":"degrade","mode":"stale_ok","miss":"deny"})";
  Play play = before_a_slow_loop(1.1);
  play.upstream +=
      std::string(R"(,"overload":{"rules":{"P1":)") + kMisses + R"(,"P2":)" + kMisses + "}}";
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Recording recording = run(play, seed);
    CHECK(recording.classes[0].success >= 0.999);
    CHECK(recording.classes[1].success >= 0.97);
    CHECK(recording.classes[2].success >= 0.4);
    CHECK(recording.changes.size() <= 2);
  }
}

TEST_CASE("an event loop at its capacity changes the state once, and not each few seconds") {
  for (const double times : {0.99, 1.0, 1.01}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(times);
      CAPTURE(seed);
      const Recording recording = run(before_a_slow_loop(times), seed);
      CHECK(recording.changes.size() <= 2);
      CHECK(recording.classes[0].success >= 0.999);
      CHECK(recording.classes[1].success >= 0.999);
    }
  }
  CHECK(run(before_a_slow_loop(0.85), 1).changes.empty());
}

// 400 a second are possible; what takes longer than 300 ms is an error, and soon everything does.
Play with_short_timeouts(double times, const std::string& concurrency) {
  return {
      .backend = R"({"slots":40,"service_ms":100})",
      .seconds = 120,
      .rate = 400 * times,
      .timeout_ms = 3000,
      .upstream = R"(,"response_timeout_ms":300,"dispatch":{"concurrency":)" + concurrency + "}"};
}

// Of the service alone 0.7 % takes longer.
TEST_CASE("errors that a number too high makes are prevented by a lower limit") {
  for (const double times : {1.2, 1.5, 3.0}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(times);
      CAPTURE(seed);
      const Recording recording = run(with_short_timeouts(times, "200"), seed);
      CHECK(recording.classes[0].success >= 0.975);
      CHECK(recording.goodput >= 0.94);
      CHECK(recording.changes.size() <= 2);
      CHECK(seconds_without_p0(recording) == 0);
      CHECK(recording.seconds.back().limit <= 70);
    }
  }
}

TEST_CASE("such errors at the capacity change the state seldom") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Play play = with_short_timeouts(1.05, "200");
    play.seconds = 300;
    const Recording recording = run(play, seed);
    CHECK(recording.classes[0].success >= 0.97);
    CHECK(recording.changes.size() <= 10);
  }
}

// Negative control of both.
TEST_CASE("with regulate off these errors stay") {
  Play play = with_short_timeouts(1.5, "200");
  play.upstream += R"(,"overload":{"regulate":false})";
  const Recording recording = run(play, 1);
  CHECK(recording.classes[0].success <= 0.8);
  CHECK(recording.goodput <= 0.5);
}

TEST_CASE("an upstream that hangs for a while has its limit back at once") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Play play = with_short_timeouts(0.8, "40");
    play.besides = R"("changes":[{"at_seconds":20,"until_seconds":40,"slots":0}],)";
    const Recording recording = run(play, seed);
    CHECK(recording.seconds[50].limit == 40);
    CHECK(recording.seconds[50].classes[2].denied == 0);
  }
}

// A tenth of the requests takes ten times as long, whatever the limit; the slots are as many as are
// needed.
TEST_CASE("requests that time out whatever the load cost the others nothing") {
  for (const std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    Play play = with_short_timeouts(0.5, "200");
    play.backend = R"({"slots":200,"service_ms":100,"tail_probability":0.1,"tail_factor":10})";
    const Recording recording = run(play, seed);
    CHECK(recording.changes.empty());
    CHECK(recording.seconds.back().limit == 200);
    CHECK(recording.classes[2].success >= 0.88);
  }
}

TEST_CASE("slots that a class may not take for its max_inflight are the lower ones'") {
  const auto play = [](double times, int cap) {
    const auto one = [](const char* name, int weight, int queue, int wait, const std::string& cap) {
      return std::string(R"({"name":")") + name + R"(","weight":)" + std::to_string(weight) +
             R"(,"max_queue":)" + std::to_string(queue) + R"(,"max_wait_ms":)" +
             std::to_string(wait) + cap + "}";
    };
    const std::string capped = R"(,"max_inflight":)" + std::to_string(cap);
    return Play{.backend = R"({"slots":16,"service_ms":20})",
                .rate = 800 * times,
                .upstream = R"(,"dispatch":{"concurrency":16})",
                .config = R"(,"classes":[)" + one("P0", 8, 512, 500, "") + "," +
                          one("P1", 3, 256, 200, capped) + "," + one("P2", 1, 128, 100, "") + "]"};
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    // What P1 may have is an eighth, so that 0.9 of the capacity is asked for.
    const Recording below = run(play(1.1, 2), seed);
    CHECK(below.classes[2].success >= 0.99);
    // A quarter: all slots have work.
    const Recording above = run(play(1.2, 4), seed);
    CHECK(above.goodput >= 0.975);
    CHECK(above.classes[0].success >= 0.999);
  }
}

}  // namespace spillway::simulate
