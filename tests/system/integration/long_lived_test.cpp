// What tunnels and event streams are to the process: to its reloads, its drain and its memory.
#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "support/open_load.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "system/integration/sale.hpp"
#include "system/integration/upgrade.hpp"

namespace spillway::support {
namespace {

TEST_CASE("neither a tunnel nor an event stream keeps a former configuration in use") {
  Event go;
  ScriptedPeer old([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    if (request->target() == "/events") {
      proxy.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
      if (proxy.wait(go)) proxy.send("data: 2\n\n");
    } else if (request->target() == "/held") {
      if (proxy.wait(go)) proxy.send(ok("held"));
    } else if (proxy.send(kSwitching)) {
      while (const auto line = proxy.read_until("\n")) proxy.send("old " + *line);
    }
  });
  ScriptedPeer other(ok("other"));
  ProxyUnderTest proxy(configuration({old.address()}, never_shed()));
  RawClient tunnel = open_tunnel(proxy.port());
  RawClient stream(proxy.port());
  CHECK(stream.send(get("/events")).read_head().status() == 200);
  CHECK(stream.read_bytes(9) == "data: 1\n\n");
  RawClient held(proxy.port());  // the control: a request does keep to its configuration
  held.send(get("/held"));
  CHECK(old.wait_until([](const auto& seen) { return seen.requests == 3; }));

  CHECK(proxy.reload(configuration({other.address()}, never_shed())).status() == 200);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "other");
  const auto former = [](int count) {
    return [count](const nlohmann::json& state) {
      return state["configuration"]["former_in_use"] == count;
    };
  };
  CHECK(proxy.state_becomes(former(1)));
  CHECK_FALSE(proxy.state_becomes(former(0), 200ms));
  go.set();
  CHECK(held.read_response().body == "held");
  CHECK(proxy.state_becomes(former(0)));

  CHECK(tunnel.send("hi\n").read_bytes(7) == "old hi\n");
  CHECK(stream.read_to_end() == "data: 2\n\n");
  CHECK(proxy.metric(kOpen) == 1);
  CHECK(proxy.metric(ended("finished", "event_stream")) == 1);
  CHECK(proxy.metric(asked("opened")) == 1);
}

// Its server has succeeded after a second, whatever the client takes.
TEST_CASE("nor does an event stream whose client takes nothing, for longer than a second") {
  ScriptedPeer old([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    while (proxy.send(std::string(65'536, 'x'))) {
    }
  });
  ScriptedPeer other(ok("other"));
  const nlohmann::json patient = never_shed({{"limits", {{"min_rate_bytes", 0}}}});
  ProxyUnderTest proxy(configuration({old.address()}, patient));
  RawClient stream(proxy.port(), 4096);
  CHECK(stream.send(get("/events")).read_head().status() == 200);
  CHECK(proxy.reload(configuration({other.address()}, patient)).status() == 200);
  CHECK(proxy.state_becomes(
      [](const nlohmann::json& state) { return state["configuration"]["former_in_use"] == 0; }));
  CHECK(proxy.metric(R"(spillway_tunnels{kind="event_stream"})") == 1);
}

TEST_CASE("a drain waits for tunnels and opens no more") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), never_shed({{"workers", 1}}));
  RawClient client = open_tunnel(proxy.port());
  RawClient idle(proxy.port());
  RawClient busy(proxy.port());
  CHECK(idle.ask(get("/")).body == "plain");
  proxy.server().begin_drain();
  // The worker drains as soon as it keeps no connection.
  const Deadline deadline;
  while (busy.ask(get("/")).field("Connection") != "close" && !deadline.passed()) {
  }
  const Message refusal = idle.ask(upgrade());
  CHECK(refusal.status() == 503);
  CHECK(refusal.body.find("DRAINING") != std::string::npos);
  CHECK(client.send("hi\n").read_bytes(3) == "hi\n");
  CHECK_FALSE(proxy.server().drained());
  client.close();
  CHECK(proxy.metric_becomes(kOpen, 0));
  while (!proxy.server().drained() && !deadline.passed()) std::this_thread::yield();
  CHECK(proxy.server().drained());
}

TEST_CASE("tunnels that outlast a drain are closed at its end") {
  ScriptedPeer peer(echo_lines);
  ProxyProcess proxy(
      configuration({peer.address()}, never_shed({{"limits", {{"drain_timeout_ms", 300}}}})));
  RawClient client = open_tunnel(proxy.port());
  proxy.process().signal(SIGTERM);
  CHECK(client.send("hi\n").read_bytes(3) == "hi\n");
  CHECK(proxy.process().wait() == 0);
  CHECK(client.is_closed());
}

TEST_CASE("a thousand idle tunnels take little memory") {
  const std::size_t kTunnels = kSanitized ? 100 : 1000;
  constexpr std::size_t kMostEach = 4096;
  raise_descriptor_limit();
  ScriptedPeer peer(echo_lines);
  // Half of them may be of one client.
  ProxyProcess proxy(
      configuration({peer.address()}, never_shed({{"limits", {{"tunnels", 2200}}}})));
  std::vector<RawClient> clients;
  clients.reserve(kTunnels + 50);
  const auto open = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(open_tunnel(proxy.port()));
      CHECK(clients.back().send("hi\n").read_bytes(3) == "hi\n");
    }
  };
  open(50);
  clients.clear();
  const std::size_t before = proxy.peak_memory();
  open(kTunnels);
  const std::size_t each = (proxy.peak_memory() - before) / kTunnels;
  MESSAGE("bytes per idle tunnel: " << each);
  if (!kSanitized) CHECK(each < kMostEach);
}

// A visitor that waits, and has read what its event stream begins with.
Visitor follow_place(const ProxyProcess& proxy) {
  Visitor visitor(proxy);
  visitor.join();
  visitor.client().send("GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: a\r\nCookie: " +
                        visitor.jar() + "\r\n\r\n");
  REQUIRE(visitor.client().read_head().status() == 200);
  std::string told;
  while (!told.ends_with("\n\n")) told += visitor.client().read_bytes(1);
  return visitor;
}

TEST_CASE("five hundred visitors who follow their places take little memory") {
  const std::size_t kStreams = kSanitized ? 50 : 500;
  constexpr std::size_t kMostEach = 4096;
  raise_descriptor_limit();
  Shop shop;
  nlohmann::json room = always();
  room.merge_patch(
      {{"joins_per_second", 10'000}, {"claim_ms", 600'000}, {"max_wait_ms", 86'400'000}});
  ProxyProcess proxy(
      configuration({shop.address()}, selling(room, {{"limits", {{"tunnels", 4000}}}})));
  std::vector<Visitor> visitors;
  visitors.reserve(kStreams);
  Visitor first(proxy);  // is called: the others wait
  first.join();
  REQUIRE(first.is_called());
  for (int n = 0; n < 20; ++n) visitors.push_back(follow_place(proxy));
  visitors.clear();
  const std::size_t before = proxy.peak_memory();
  for (std::size_t n = 0; n < kStreams; ++n) visitors.push_back(follow_place(proxy));
  const std::size_t each = (proxy.peak_memory() - before) / kStreams;
  MESSAGE("bytes per event stream: " << each);
  if (!kSanitized) CHECK(each < kMostEach);
  proxy.process().signal(SIGTERM);
  CHECK(proxy.process().wait() == 0);
}

}  // namespace
}  // namespace spillway::support
