// Several servers behind one upstream, one of them lost: what the others are asked at once.
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/mortal_server.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr int kClients = 24;
constexpr std::size_t kSlots = 8;
constexpr std::size_t kPart = 4;  // of each of two servers

json settings(const std::vector<std::string>& servers, json upstream, int workers = 2) {
  const json classes = {
      {{"name", "P0"}, {"max_queue", 1000}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}}};
  upstream.merge_patch({{"name", "app"}, {"servers", servers}});
  return {{"workers", workers},
          {"classes", classes},
          {"dispatch", {{"concurrency", kSlots}}},
          {"upstreams", {upstream}},
          {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}};
}

// Each client asks again as soon as it is answered; how many answers were 200.
int ask_from_many(const ProxyUnderTest& proxy, int requests_each) {
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      RawClient client(proxy.port());
      for (int n = 0; n < requests_each; ++n)
        answered += client.ask(get("/")).status() == 200 ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  return answered;
}

// Workers that choose at the same moment may find the same last place.
constexpr std::size_t kRace = 1;

constexpr const char* kLimit = R"(spillway_effective_limit{upstream="app"})";

}  // namespace

TEST_CASE("with one of two servers lost the other is asked no more at once than its own part") {
  CountingBackend survivor({.service = 5ms});
  MortalServer lost;
  lost.die();
  const ProxyUnderTest proxy(settings(
      {lost.address(), survivor.address()},
      {{"ejection", {{"consecutive_failures", 1}, {"base_ms", 600'000}, {"max_ms", 600'000}}}}));
  const std::string ejections =
      "spillway_server_ejections_total{upstream=\"app\",server=\"" + lost.address() + "\"}";
  CHECK(proxy.metric(kLimit) == kSlots);
  RawClient client(proxy.port());
  const Deadline deadline;
  while (proxy.metric(ejections) < 1 && !deadline.passed())
    CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.metric(kLimit) == kPart);
  CHECK(ask_from_many(proxy, 25) == kClients * 25);
  const CountingBackend::Seen seen = survivor.seen();
  CHECK(seen.most_in_progress <= kPart);
  CHECK(seen.most_in_progress > kPart / 2);
  CHECK(proxy.metric(kLimit) == kPart);
}

TEST_CASE(
    "while all servers are there each is asked no more than its part and together they have all "
    "slots") {
  for (const char* balance : {"least_inflight", "power_of_two", "round_robin"}) {
    CAPTURE(balance);
    CountingBackend slow({.service = 20ms}), quick({.service = 5ms});
    const ProxyUnderTest proxy(settings({slow.address(), quick.address()}, {{"balance", balance}}));
    CHECK(ask_from_many(proxy, 15) == kClients * 15);
    CHECK(slow.seen().most_in_progress <= kPart + kRace);
    CHECK(quick.seen().most_in_progress <= kPart + kRace);
    CHECK(slow.seen().most_in_progress >= kPart);
    CHECK(quick.seen().most_in_progress > kPart / 2);
    CHECK(proxy.metric(kLimit) == kSlots);
  }
}

TEST_CASE("what a server that is lost still holds takes nothing from the other") {
  CountingBackend survivor({.service = 5ms});
  MortalServer hung(std::chrono::minutes(10));
  const ProxyUnderTest proxy(
      settings({hung.address(), survivor.address()},
               {{"balance", "round_robin"},
                {"health_check", {{"path", "/up"}, {"interval_ms", 20}, {"unhealthy_after", 1}}}},
               1));
  std::deque<RawClient> held;
  for (std::size_t n = 0; n < 4 * kPart; ++n) held.emplace_back(proxy.port()).send(get("/"));
  const Deadline deadline;
  while (hung.requests() < kPart && !deadline.passed()) std::this_thread::yield();
  REQUIRE(hung.requests() == kPart);
  hung.answer_checks_with(503);
  CHECK(proxy.metric_becomes(
      "spillway_server_up{upstream=\"app\",server=\"" + hung.address() + "\"}", 0));
  CHECK(ask_from_many(proxy, 25) == kClients * 25);
  CHECK(survivor.seen().most_in_progress <= kPart + 1);  // one is its health check
  CHECK(survivor.seen().most_in_progress > kPart / 2);
  CHECK(proxy.metric(kLimit) == kSlots);
  hung.die();
  CHECK(proxy.metric_becomes(kLimit, kPart));
}

TEST_CASE("a server that returns has its part again after its first success") {
  CountingBackend survivor({.service = 5ms});
  MortalServer lost;
  lost.die();
  const ProxyUnderTest proxy(
      settings({lost.address(), survivor.address()},
               {{"ejection", {{"consecutive_failures", 1}, {"base_ms", 50}, {"max_ms", 50}}}}));
  RawClient client(proxy.port());
  const Deadline deadline;
  while (proxy.metric(kLimit) == kSlots && !deadline.passed()) client.ask(get("/"));
  // Each time that it returns one request tries it; the other server has that one then.
  CHECK(ask_from_many(proxy, 50) == kClients * 50);
  CHECK(survivor.seen().most_in_progress <= kPart + 1 + kRace);
  lost.revive();
  const Deadline until_back;
  while (proxy.metric(kLimit) != kSlots && !until_back.passed()) client.ask(get("/"));
  CHECK(proxy.metric(kLimit) == kSlots);
  CHECK(ask_from_many(proxy, 25) == kClients * 25);
  CHECK(lost.requests() > kClients);
}

}  // namespace spillway::support
