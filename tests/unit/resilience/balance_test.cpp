// Choosing among servers: fairness, and requests in a closed loop on a simulated clock.
#include "resilience/balance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace spillway::resilience {
namespace {

using config::Balance;

constexpr std::array kAll{Balance::least_inflight, Balance::power_of_two, Balance::round_robin};

// Of so many slots that there is always room.
constexpr ServerLoad of_many(std::uint64_t in_flight) {
  return {static_cast<std::uint32_t>(in_flight), UINT32_MAX};
}

// Servers that take a fixed time for a request, however many they have.
struct Cluster {
  std::vector<Duration> service;
  std::size_t clients = 0;  // each sends its next request after the response
};

struct Outcome {
  std::vector<std::uint64_t> served;
  std::vector<std::uint64_t> most;  // in flight at once, by server
  std::uint64_t total = 0;
};

// Negative control: one server drawn at random.
Outcome run(const Cluster& cluster, std::optional<Balance> way, Duration time) {
  const std::size_t servers = cluster.service.size();
  Outcome outcome{std::vector<std::uint64_t>(servers), std::vector<std::uint64_t>(servers), 0};
  std::vector<std::uint64_t> in_flight(servers);
  struct Done {
    TimePoint at;
    std::size_t server;
    bool operator>(const Done& other) const { return at > other.at; }
  };
  std::priority_queue<Done, std::vector<Done>, std::greater<>> running;
  Random random(7);
  std::uint64_t turn = 0;
  const auto ask = [&](TimePoint now) {
    const std::size_t server =
        way ? choose(*way, ServerSet::first(servers), turn++, random,
                     [&](std::size_t s) { return of_many(in_flight[s]); })
            : static_cast<std::size_t>(random.uniform() * static_cast<double>(servers));
    outcome.most[server] = std::max(outcome.most[server], ++in_flight[server]);
    // Jitter, so that clients do not run in phase.
    const double spread = 0.8 + 0.4 * random.uniform();
    running.push({now + from_seconds(to_seconds(cluster.service[server]) * spread), server});
  };
  for (std::size_t n = 0; n < cluster.clients; ++n) ask(TimePoint{});
  while (running.top().at < TimePoint{} + time) {
    const Done done = running.top();
    running.pop();
    --in_flight[done.server];
    ++outcome.served[done.server];
    ++outcome.total;
    ask(done.at);
  }
  return outcome;
}

double share(const Outcome& outcome, std::size_t server) {
  return static_cast<double>(outcome.served[server]) / static_cast<double>(outcome.total);
}

constexpr auto kIdle = [](std::size_t) { return of_many(0); };

}  // namespace

TEST_CASE("equal servers get equal shares") {
  const Cluster equal{std::vector<Duration>(3, Milliseconds{10}), 12};
  for (const Balance way : kAll) {
    CAPTURE(static_cast<int>(way));
    const Outcome outcome = run(equal, way, std::chrono::seconds(60));
    CHECK(outcome.total > 50'000);
    for (const std::size_t server : {0, 1, 2})
      CHECK(share(outcome, server) == doctest::Approx(1. / 3).epsilon(0.01));
  }
}

TEST_CASE("servers with equally few requests take turns whatever the others have") {
  const std::array<unsigned, 4> load{1, 9, 1, 1};
  std::array<int, 4> chosen{};
  for (std::uint64_t turn = 0; turn < 300; ++turn) {
    ++chosen[with_least(ServerSet::first(4), turn, [&](std::size_t s) { return load[s]; })];
  }
  CHECK(chosen == std::array{100, 0, 100, 100});
}

TEST_CASE("a choice among servers that all become busier meanwhile is one of them") {
  unsigned count = 0;
  for (std::uint64_t turn = 0; turn < 10; ++turn)
    CHECK(with_least(ServerSet::first(2), turn, [&](std::size_t) { return count++; }) == 0);
}

TEST_CASE("a server that is left out is never chosen and the others share its requests") {
  const ServerSet among = ServerSet::first(4) - ServerSet(0b10);
  for (const Balance way : kAll) {
    CAPTURE(static_cast<int>(way));
    Random random(1);
    std::array<int, 4> chosen{};
    for (std::uint64_t turn = 0; turn < 30'000; ++turn)
      ++chosen[choose(way, among, turn, random, kIdle)];
    CHECK(chosen[1] == 0);
    for (const std::size_t server : {0, 2, 3}) CHECK(std::abs(chosen[server] - 10'000) < 300);
  }
}

TEST_CASE("a single server is chosen by every way") {
  Random random(1);
  for (const Balance way : kAll) CHECK(choose(way, ServerSet(1ull << 63), 5, random, kIdle) == 63);
}

TEST_CASE("of two servers the better is always drawn") {
  Random random(1);
  for (int n = 0; n < 1000; ++n) {
    CHECK(better_of_two(ServerSet(0b11), random, [](std::size_t s) { return s == 0 ? 5 : 4; }) ==
          1);
  }
}

TEST_CASE("no server is given more than its part while another has room, and then any is") {
  const ServerSet all = ServerSet::first(3);
  for (const Balance way : kAll) {
    CAPTURE(static_cast<int>(way));
    Random random(1);
    std::array<ServerLoad, 3> loads{{{2, 2}, {1, 4}, {3, 3}}};
    const auto load = [&](std::size_t s) { return loads[s]; };
    for (std::uint64_t turn = 0; turn < 300; ++turn)
      CHECK(choose(way, all, turn, random, load) == 1);
    loads[1].in_flight = 4;
    ServerSet chosen;
    for (std::uint64_t turn = 0; turn < 300; ++turn)
      chosen.insert(choose(way, all, turn, random, load));
    CHECK(chosen == all);
    loads[0].in_flight = loads[2].in_flight = 0;
    chosen = {};
    for (std::uint64_t turn = 0; turn < 300; ++turn)
      chosen.insert(choose(way, all, turn, random, load));
    CHECK(chosen == ServerSet(0b101));
  }
}

TEST_CASE("load-aware balancing sends a slow server less and round robin piles up requests") {
  // One of four takes 20 times as long as the others.
  Cluster cluster{std::vector<Duration>(4, Milliseconds{10}), 40};
  cluster.service[2] = Milliseconds{200};
  const Outcome least = run(cluster, Balance::least_inflight, std::chrono::seconds(60));
  const Outcome two = run(cluster, Balance::power_of_two, std::chrono::seconds(60));
  const Outcome turns = run(cluster, Balance::round_robin, std::chrono::seconds(60));
  MESSAGE("requests served: least in flight ", least.total, ", power of two choices ", two.total,
          ", round robin ", turns.total);
  CHECK(share(least, 2) < 0.03);
  CHECK(share(two, 2) < 0.05);
  CHECK(least.most[2] <= 12);
  CHECK(two.most[2] <= 20);
  // The control: blind to it, nearly all clients come to wait there.
  CHECK(share(turns, 2) == doctest::Approx(0.25).epsilon(0.02));
  CHECK(turns.most[2] >= 30);
  CHECK(least.total > 3 * turns.total);
  CHECK(two.total > 3 * turns.total);
}

TEST_CASE("two choices are nearly as good as looking at all of many servers") {
  const Cluster cluster{std::vector<Duration>(64, Milliseconds{10}), 256};
  const auto longest = [&](std::optional<Balance> way) {
    const Outcome outcome = run(cluster, way, std::chrono::seconds(20));
    return *std::max_element(outcome.most.begin(), outcome.most.end());
  };
  const auto least = longest(Balance::least_inflight), two = longest(Balance::power_of_two),
             one = longest(std::nullopt);
  MESSAGE("most in flight at one of 64 servers with 4 clients each: least in flight ", least,
          ", power of two choices ", two, ", drawn at random ", one);
  CHECK(least <= 5);
  CHECK(two <= 9);
  CHECK(2 * one > 3 * two);
}

}  // namespace spillway::resilience
