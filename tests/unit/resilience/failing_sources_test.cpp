#include "resilience/failing_sources.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "resilience/circuit_breaker.hpp"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1000)};
constexpr std::uint64_t kBroken = 500;  // a path that always fails

// A circuit with the shipped limits, asked by clients in turn, ten milliseconds apart.
struct Server {
  CircuitBreaker circuit{
      CircuitBreakerLimits{.open_for = {.base = seconds(60), .cap = seconds(60)}}};
  TimePoint now = kStart;
  Random random{7};

  bool is_open() const { return circuit.state() == CircuitState::open; }

  void answer(const FailureSource& source, bool well) {
    now += milliseconds(10);
    const CircuitBreaker::Call call = circuit.allow(now);
    if (!call) return;
    circuit.record(call, well ? CallResult::success : CallResult::failure, now, random, &source);
  }
  // Clients 100 to 149 on ten paths.
  void others(int requests, bool well = true) {
    for (int i = 0; i < requests; ++i)
      answer({100 + random.next() % 50, 1 + random.next() % 10}, well);
  }
};

}  // namespace

TEST_CASE("one client that asks for what fails does not open a circuit beside others") {
  Server server;
  server.others(30);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 8; ++i) server.answer({1, kBroken + server.random.next() % 100}, false);
    server.others(2);
  }
  CHECK_FALSE(server.is_open());
}

TEST_CASE("nor do many clients on one path that fails, or four clients on paths of their own") {
  Server by_path;
  by_path.others(30);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 8; ++i) by_path.answer({by_path.random.next() % 1000, kBroken}, false);
    by_path.others(2);
  }
  CHECK_FALSE(by_path.is_open());

  Server by_clients;
  by_clients.others(30);
  for (int round = 0; round < 200; ++round) {
    for (std::uint64_t client = 1; client <= 4; ++client)
      by_clients.answer({client, kBroken + by_clients.random.next() % 100}, false);
    by_clients.others(2);
  }
  CHECK_FALSE(by_clients.is_open());
}

TEST_CASE("a server that fails for all opens its circuit when none is served for 200 ms") {
  Server server;
  server.others(200);
  int failures = 0;
  for (; !server.is_open() && failures < 100; ++failures) server.others(1, false);
  CHECK(failures == 20);  // at the fifth where none was served before
}

TEST_CASE("a server that fails for half of all requests opens its circuit by the rate") {
  Server server;
  server.others(100);
  int failures = 0;
  for (; !server.is_open() && failures < 1000; ++failures) {
    server.others(1, false);
    server.others(1, true);
  }
  CHECK(server.is_open());
  CHECK(failures <= 520);  // a window of ten seconds holds 1000 of these
}

TEST_CASE("a single client opens a circuit where no others can tell") {
  SUBCASE("in a row, whatever else it asks") {
    Server server;
    for (int i = 0; i < 100; ++i) server.answer({1, std::uint64_t(i % 9)}, true);
    for (int i = 0; i < 5; ++i) server.answer({1, std::uint64_t(i % 9)}, false);
    CHECK(server.is_open());
  }
  SUBCASE("by the rate") {
    Server server;
    for (int i = 0; i < 40 && !server.is_open(); ++i)
      server.answer({1, std::uint64_t(i % 9)}, i % 3 == 0);
    CHECK(server.is_open());
  }
  SUBCASE("beside fewer requests of others than min_samples") {
    Server server;
    server.others(19);
    for (int i = 0; i < 5; ++i) server.answer({1, kBroken}, false);
    CHECK(server.is_open());
  }
}

TEST_CASE("no connection is nobody's fault but the server's") {
  Server server;
  server.others(100);
  for (int i = 0; i < 5; ++i) {
    const CircuitBreaker::Call call = server.circuit.allow(server.now);
    server.circuit.record(call, CallResult::failure, server.now, server.random);
  }
  CHECK(server.is_open());
}

TEST_CASE("what was before the window is forgotten, and nothing after half of it") {
  FailingSources sources(seconds(10));
  const FailureSource bad{1, kBroken};
  const auto fill = [&](TimePoint now) {
    for (int i = 0; i < 30; ++i) sources.record(&bad, true, now);
    for (std::uint64_t i = 0; i < 40; ++i) {
      const FailureSource good{100 + i, 1 + i};
      sources.record(&good, false, now);
    }
  };
  fill(kStart);
  const auto others = sources.of_others(20, kStart + milliseconds(4999));
  REQUIRE(others.has_value());
  CHECK(others->all >= 38);  // one may share the bucket
  CHECK(others->failed == 0);
  CHECK(sources.of_others(20, kStart + milliseconds(9999)).has_value());
  CHECK_FALSE(sources.of_others(41, kStart + milliseconds(9999)).has_value());
  CHECK_FALSE(sources.of_others(20, kStart + seconds(10)).has_value());
}

TEST_CASE("of ten paths that fail alike none stands out") {
  FailingSources sources(seconds(10));
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const FailureSource source{random.next() % 1000, random.next() % 10};
    sources.record(&source, random.next() % 2 == 0, kStart);
  }
  CHECK_FALSE(sources.of_others(20, kStart).has_value());
}

}  // namespace spillway::resilience
