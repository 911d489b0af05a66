#include "overload/control/server_weights.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

// Servers that are kept full: each does as much as it has slots for, as far as it has requests. The
// limit changes in turns of 0.6 s by a fifth.
struct Servers {
  explicit Servers(std::vector<double> all, std::uint64_t seed = 1)
      : slots(std::move(all)), ticks(slots.size()), done(slots.size()), random(seed) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < slots.size(); ++i) names.push_back("s:" + std::to_string(i));
    weights = ServerWeights(names);
  }

  double part(std::size_t server, double limit) const {
    double sum = 0;
    for (const double weight : weights.weights()) sum += weight;
    return limit * weights.weights()[server] / sum;
  }

  void run(int seconds, double limit, bool is_short = true) {
    for (int tick = 0; tick < 10 * seconds; ++tick) {
      const double now_limit = tick / 6 % 2 == 0 ? limit : 1.2 * limit;
      LimitSample sample{.span = 100ms, .is_short = is_short, .has_waiters = is_short};
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const double its = std::round(part(i, now_limit));
        const double served = std::min(its, slots[i]) / kHeld * speed / 10;
        done[i] += ticks[i].is_in ? served * (1 + noise * (random.uniform() - 0.5)) : 0;
        ticks[i].succeeded = static_cast<std::uint64_t>(done[i]);
        ticks[i].in_flight = static_cast<std::uint32_t>(ticks[i].is_in && sees_work ? its : 0);
        sample.slot_seconds += ticks[i].in_flight / 10.0;
        sample.released += ticks[i].is_in ? served : 0;
      }
      now += 100ms;
      weights.step(sample, static_cast<std::uint32_t>(std::lround(now_limit)), ticks, now);
    }
  }

  static constexpr double kHeld = 0.02;  // seconds
  std::vector<double> slots;
  std::vector<ServerTick> ticks;
  std::vector<double> done;
  double speed = 1;
  double noise = 0.3;  // width of a tick's, as a part of what is served
  bool sees_work = true;
  Random random;
  TimePoint now = TimePoint{} + 1h;
  ServerWeights weights{{}};
};

}  // namespace

TEST_CASE("the parts of servers that differ become what each can work on") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Servers servers({32, 8, 16}, seed);
    servers.run(120, 52);
    CHECK(servers.part(0, 56) == doctest::Approx(32).epsilon(0.15));
    CHECK(servers.part(1, 56) == doctest::Approx(8).epsilon(0.3));
    CHECK(servers.part(2, 56) == doctest::Approx(16).epsilon(0.2));
  }
}

TEST_CASE("those of equal servers stay about equal, also where all of them get slower") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Servers servers({16, 16}, seed);
    servers.run(60, 30);
    servers.speed = 0.5;
    servers.run(60, 30);
    for (const double weight : servers.weights.weights())
      CHECK(weight == doctest::Approx(1).epsilon(0.15));
  }
}

TEST_CASE("what all servers wait for tells them not apart: an hour of noise does not add up") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    Servers servers({2, 2, 2, 2}, seed);  // far below their parts: throughput never follows
    servers.noise = 1.5;
    servers.run(3600, 64);
    for (const double weight : servers.weights.weights()) {
      CHECK(weight > 0.6);
      CHECK(weight < 1.5);
    }
  }
}

TEST_CASE("a server whose part had become too small to be judged gets more once it can work") {
  Servers servers({16, 1});
  servers.run(600, 17);
  CHECK(servers.part(1, 17) < 5);
  servers.slots = {16, 16};
  servers.run(900, 30);
  CHECK(servers.part(1, 30) > 10);
}

TEST_CASE("a server that answers nothing does not keep the others from being judged") {
  Servers servers({32, 8, 0});
  servers.run(600, 40);
  CHECK(servers.weights.weights()[0] > 1.5 * servers.weights.weights()[1]);
}

TEST_CASE("nothing is learned while no request waits, and of a server that is lost") {
  Servers servers({32, 8, 16});
  servers.run(60, 52, false);
  for (const double weight : servers.weights.weights()) CHECK(weight == 1);
  servers.run(60, 52);
  const double before = servers.weights.weights()[2] / servers.weights.weights()[0];
  servers.ticks[2].is_in = false;
  servers.run(60, 52);
  const double during = servers.weights.weights()[2] / servers.weights.weights()[0];
  CHECK(during == doctest::Approx(before).epsilon(0.25));
  CHECK(servers.weights.weights()[0] > 2 * servers.weights.weights()[1]);
}

TEST_CASE("of a server that is never seen at work nothing is learned") {
  Servers servers({16, 16});
  servers.sees_work = false;
  servers.run(30, 30);
  for (const double weight : servers.weights.weights()) CHECK(weight == 1);
}

TEST_CASE("after a reload a server keeps its weight by its name") {
  Servers servers({32, 8});
  servers.run(60, 38);
  const auto former = servers.weights.weights();
  CHECK(former[0] > 2 * former[1]);
  ServerWeights next({"s:1", "other", "s:0"});
  next.continue_from(servers.weights);
  const auto weights = next.weights();
  CHECK(weights[2] / weights[0] == doctest::Approx(former[0] / former[1]));
  CHECK(weights[0] + weights[1] + weights[2] == doctest::Approx(3));
}

}  // namespace spillway::overload
