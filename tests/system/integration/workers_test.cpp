// Several workers before one upstream: what they may ask of it together.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "support/counting_backend.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kConcurrency = 6;
constexpr std::uint32_t kIdle = 3;
constexpr int kClients = 24;

json settings(std::uint32_t concurrency) {
  const json classes = {
      {{"name", "P0"}, {"max_queue", 1000}, {"sla_ms", 20'000}, {"max_wait_ms", 20'000}}};
  return {{"workers", kWorkers},
          {"classes", classes},
          {"dispatch", {{"concurrency", concurrency}}},
          {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}};
}

// Each client asks again as soon as it is answered; `restless` ones sometimes leave without
// waiting for the answer. Returns how many answers were 200; all others are failures.
int ask_at_once(const ProxyUnderTest& proxy, int requests_each, bool restless) {
  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      Random random(static_cast<std::uint64_t>(c));
      std::optional<RawClient> client(proxy.port());
      for (int n = 0; n < requests_each; ++n) {
        client->send(get("/"));
        if (restless && random.uniform() < 0.2) {
          if (random.uniform() < 0.5) client->reset();
          client.emplace(proxy.port());
          continue;
        }
        ++(client->read_response().status() == 200 ? answered : wrong);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  return answered;
}

}  // namespace

TEST_CASE("four workers together never ask more of an upstream at once than its concurrency") {
  CountingBackend backend({.service = 2ms});
  json limited = settings(kConcurrency);
  limited["upstreams"] = {
      {{"name", "app"}, {"servers", {backend.address()}}, {"idle_connections", kIdle}}};
  const ProxyUnderTest proxy(limited);

  SUBCASE("while every client waits for its answer") {
    CHECK(ask_at_once(proxy, 25, false) == kClients * 25);
  }
  SUBCASE("while clients come and go") { CHECK(ask_at_once(proxy, 25, true) > kClients * 10); }

  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  const CountingBackend::Seen seen = backend.seen();
  CHECK(seen.most_in_progress <= kConcurrency);
  CHECK(seen.most_in_progress > kConcurrency / 2);
  CHECK(seen.most_connections <= kConcurrency + kWorkers);

  const Deadline deadline;
  while (backend.seen().connections > kIdle && !deadline.passed()) {
  }
  CHECK(backend.seen().connections <= kIdle);
}

TEST_CASE("the same workers ask for more when the upstream's concurrency allows it") {
  CountingBackend backend({.service = 2ms});
  const ProxyUnderTest proxy(backend.address(), settings(1000));
  CHECK(ask_at_once(proxy, 10, false) == kClients * 10);
  CHECK(backend.seen().most_in_progress > kConcurrency);
}

TEST_CASE("connections are spread evenly over the workers") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), settings(1000));
  std::vector<RawClient> clients;
  for (std::uint32_t n = 0; n < 5 * kWorkers; ++n) {
    CHECK(clients.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  }
  const json state = proxy.state();
  for (const json& worker : state["workers"]) CHECK(worker["connections"] == 5);
}

TEST_CASE("workers that find the connection budget full make room at one another") {
  // One for each slot and each worker; each of these has up to six at times, and keeps them.
  constexpr std::uint32_t kMost = kConcurrency + kWorkers;
  CountingBackend backend({.service = 2ms});
  const ProxyUnderTest proxy(backend.address(), settings(kConcurrency));
  CHECK(ask_at_once(proxy, 25, false) == kClients * 25);
  CHECK(backend.seen().most_connections <= kMost);
  CHECK(backend.seen().accepted > kMost);  // there was room to be made
  CHECK(backend.seen().most_in_progress <= kConcurrency);
}

}  // namespace spillway
