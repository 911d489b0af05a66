// A request that is answered with 504 keeps its slot while the upstream may be at work on it.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"
#include "system/integration/workshop.hpp"

namespace spillway::support {
namespace {

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr const char* kAbandoned = "spillway_abandoned_requests";
constexpr int kTimeoutMs = 100;

nlohmann::json impatient(int slots, const nlohmann::json& upstream = nlohmann::json::object()) {
  nlohmann::json settings = with_so_few_slots(slots);
  settings["classes"][0]["max_wait_ms"] = 50;
  settings["app"] = {{"response_timeout_ms", kTimeoutMs}};
  settings["app"].merge_patch(upstream);
  return settings;
}

}  // namespace

TEST_CASE("requests that time out are at work no more often than there are slots") {
  constexpr int kSlots = 4;
  Workshop shop;
  const ProxyUnderTest proxy(shop.peer.address(), impatient(kSlots));
  for (std::size_t n = 1; n <= kSlots; ++n) {
    CHECK(RawClient(proxy.port()).ask(get("/")).status() == 504);
    CHECK(shop.is_asked(n));
  }
  CHECK(proxy.metric(kSlotsTaken) == kSlots);
  CHECK(proxy.metric(kAbandoned) == kSlots);
  for (int n = 0; n < 5; ++n) CHECK(RawClient(proxy.port()).ask(get("/")).status() == 503);
  CHECK(shop.most_at_work() == kSlots);
  shop.go.set();  // the upstream has ended them: their slots are free
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(proxy.metric(kAbandoned) == 0);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "done");
}

TEST_CASE("an upstream that stalls behind the head is at work no more often than there are slots") {
  constexpr int kSlots = 2;
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndo");
    if (proxy.wait(go)) proxy.send("ne");
  });
  const ProxyUnderTest proxy(peer.address(), impatient(kSlots));
  for (int n = 1; n <= kSlots; ++n) {
    RawClient client(proxy.port());
    CHECK(client.send(get("/")).read_to_end().ends_with("do"));
    CHECK(client.was_reset());
    CHECK(proxy.metric_becomes(kAbandoned, n));
  }
  CHECK(proxy.metric(kSlotsTaken) == kSlots);
  for (int n = 0; n < 5; ++n) CHECK(RawClient(proxy.port()).ask(get("/")).status() == 503);
  CHECK(peer.requests() == kSlots);
  go.set();
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
}

TEST_CASE("an upstream that closes the connection behind a timeout has ended the request") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();  // half-closed: the answer came too late
  });
  const ProxyUnderTest proxy(peer.address(), impatient(1));
  const Stopwatch stopwatch;
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 504);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(stopwatch.elapsed() < 2s);  // the least bound
}

TEST_CASE("a server that never answers holds a slot for a bounded time") {
  Workshop shop;
  const ProxyUnderTest proxy(shop.peer.address(), impatient(1));
  const Stopwatch stopwatch;
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 504);
  CHECK(proxy.metric(kSlotsTaken) == 1);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(stopwatch.elapsed() >= 2s);
}

TEST_CASE(
    "a server that swallows requests holds no slot once its circuit is open or it is ejected") {
  constexpr int kSlots = 4;
  nlohmann::json upstream;
  SUBCASE("circuit") {
    upstream = {{"circuit_breaker", {{"consecutive_failures", 2}, {"open_ms", 30'000}}},
                {"ejection", {{"consecutive_failures", 0}}}};
  }
  SUBCASE("ejection") {
    upstream = {{"ejection", {{"consecutive_failures", 2}, {"base_ms", 60'000}}}};
  }
  Event never;
  ScriptedPeer black_hole([&](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait(never);
  });
  ScriptedPeer healthy(ok("done"));
  upstream["balance"] = "round_robin";
  nlohmann::json settings = impatient(kSlots, upstream);
  settings["workers"] = 1;
  const ProxyUnderTest proxy(configuration({black_hole.address(), healthy.address()}, settings));
  int timeouts = 0;
  const Stopwatch stopwatch;
  for (int n = 0; n < 6; ++n)
    timeouts += RawClient(proxy.port()).ask(get("/")).status() == 504 ? 1 : 0;
  CHECK(timeouts == 2);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(stopwatch.elapsed() < 2s);
  for (int n = 0; n < 10; ++n) CHECK(RawClient(proxy.port()).ask(get("/")).body == "done");
}

TEST_CASE("a server that swallows requests holds no more than its part of the slots") {
  constexpr int kSlots = 4;
  const Event never;
  ScriptedPeer black_hole([&](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait(never);
  });
  ScriptedPeer healthy(ok("done"));
  const ProxyUnderTest proxy(configuration(
      {black_hole.address(), healthy.address()},
      impatient(kSlots,
                {{"ejection", {{"consecutive_failures", 0}}}, {"balance", "round_robin"}})));
  int timeouts = 0, answers = 0;
  for (int n = 0; n < 12; ++n) {
    const auto status = RawClient(proxy.port()).ask(get("/")).status();
    timeouts += status == 504 ? 1 : 0;
    answers += status == 200 ? 1 : 0;
    CHECK(proxy.metric(kAbandoned) <= kSlots / 2);
  }
  CHECK(answers >= 4);  // each worker has a turn of its own
  CHECK(timeouts + answers == 12);
}

}  // namespace spillway::support
