// Upgraded connections: what goes through them, how they end, and what they are not: requests.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/upgrade.hpp"

namespace spillway::support {
namespace {

constexpr const char* kInflight = R"(spillway_inflight{upstream="app"})";

TEST_CASE("an upgraded connection carries bytes both ways and those that came early first") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_head() || !proxy.send(std::string(kSwitching) + "hello\n")) return;
    while (const auto line = proxy.read_until("\n")) proxy.send("you said " + *line);
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  client.send(upgrade("/chat?room=1", "TE: trailers\r\n") + "early\n");
  const Message head = client.read_head();
  CHECK(head.status() == 101);
  CHECK(head.field("Connection") == "upgrade");
  CHECK(head.field("Upgrade") == "websocket");
  CHECK(head.field("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(head.field("X-Request-Id"));
  CHECK(client.read_bytes(6) == "hello\n");
  CHECK(client.read_bytes(15) == "you said early\n");
  for (int i = 0; i < 100; ++i) {
    client.send("again\n");
    CHECK(client.read_bytes(15) == "you said again\n");
  }
  const std::string received = peer.seen().received.at(0);
  CHECK(received.starts_with("GET /chat?room=1 HTTP/1.1\r\n"));
  CHECK(received.find("\r\nConnection: upgrade\r\nUpgrade: websocket\r\n") != std::string::npos);
  CHECK(received.find("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") != std::string::npos);
  CHECK(received.find("TE: ") == std::string::npos);
  CHECK(proxy.metric(kOpen) == 1);
  CHECK(proxy.state()["tunnels"]["upgrade"] == 1);
}

TEST_CASE("tunnels hold no slot and no connection that requests may need") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), one_slot());
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(open_tunnel(proxy.port()));
  CHECK(proxy.metric_becomes(kOpen, 20));
  CHECK(proxy.metric_becomes(kInflight, 0));
  for (int i = 0; i < 5; ++i) CHECK(RawClient(proxy.port()).ask(get("/")).body == "plain");
  for (RawClient& client : clients) CHECK(client.send("hi\n").read_bytes(3) == "hi\n");
  clients.clear();
  CHECK(proxy.metric_becomes(kOpen, 0));
  CHECK(proxy.metric(ended("finished")) == 20);
  CHECK(proxy.metric_becomes("spillway_client_connections", 0));
}

TEST_CASE("a handshake waits for a slot as any request does") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held") {
        if (!proxy.wait(go)) return;
        proxy.send(ok("done"));
      } else {
        proxy.send(kSwitching);
        proxy.wait_closed();
      }
    }
  });
  ProxyUnderTest proxy(
      peer.address(),
      never_shed({{"dispatch", {{"concurrency", 1}}},
                  {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                  {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}}));
  RawClient holder(proxy.port());
  holder.send(get("/held"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient client(proxy.port());
  client.send(upgrade());
  CHECK(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P0"})", 1));
  CHECK(peer.seen().requests == 1);
  go.set();
  CHECK(holder.read_response().body == "done");
  CHECK(client.read_head().status() == 101);
}

TEST_CASE("tunnels say nothing about latency and their lives are no request durations") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_head()) return;
    const Event never;
    never.wait(50ms);
    proxy.send(kSwitching);
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  {
    RawClient client = open_tunnel(proxy.port());
    CHECK_FALSE(client.has_bytes(600ms));
  }
  CHECK(proxy.metric_becomes(kOpen, 0));
  check_counted_without_its_life(proxy);
}

TEST_CASE("a side that does not read holds the other back and misses nothing") {
  const std::string bytes = pattern(40'000'000);
  for (const bool down : {true, false}) {
    CAPTURE(down);
    Event sent, go, checked;
    std::atomic<bool> same = false;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      if (!proxy.read_head() || !proxy.send(kSwitching)) return;
      if (down) {
        if (proxy.send(bytes)) sent.set();
      } else if (proxy.wait(go)) {
        same = proxy.read_bytes(bytes.size()) == bytes;
        checked.set();
      }
      proxy.wait_closed();
    });
    ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port(), 65'536);
    CHECK(client.send(upgrade()).read_head().status() == 101);
    if (down) {
      CHECK_FALSE(sent.wait(300ms));
      CHECK((client.read_bytes(bytes.size(), 30s) == bytes));
      CHECK(sent.wait());
    } else {
      std::thread sender([&] {
        if (client.try_send(bytes, 60s)) sent.set();
      });
      CHECK_FALSE(sent.wait(300ms));
      go.set();
      CHECK(checked.wait(30s));
      CHECK(same);
      sender.join();
    }
  }
}

TEST_CASE("a half-close is passed on and the other direction goes on") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request || !proxy.send(kSwitching)) return;
    if (request->target() == "/upstream-first") {
      proxy.send("bye\n");
      proxy.half_close();
    }
    if (const auto line = proxy.read_until("\n")) {
      if (request->target() == "/client-first" && !proxy.read_bytes(1)) proxy.send("so " + *line);
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client = open_tunnel(proxy.port(), "/client-first");
  client.send("bye\n").half_close();
  CHECK(client.read_to_end() == "so bye\n");
  CHECK_FALSE(client.was_reset());

  RawClient other = open_tunnel(proxy.port(), "/upstream-first");
  CHECK(other.read_to_end() == "bye\n");
  CHECK_FALSE(other.was_reset());
  CHECK(proxy.metric(kOpen) == 1);
  other.send("still here\n").half_close();
  CHECK(proxy.metric_becomes(kOpen, 0));
  CHECK(peer.wait_until(
      [](const auto& seen) { return seen.received.at(1).ends_with("\r\n\r\nstill here\n"); }));
  CHECK(proxy.metric(ended("finished")) == 2);
}

TEST_CASE("a tunnel is over when both sides have ended it however much went through before") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), never_shed());
  for (int lines = 0; lines < 50; ++lines) {
    CAPTURE(lines);
    RawClient client = open_tunnel(proxy.port());
    for (int i = 0; i < lines; ++i) CHECK(client.send("hi\n").read_bytes(3) == "hi\n");
    client.half_close();
    CHECK(client.read_to_end().empty());
    REQUIRE(proxy.metric_becomes(kOpen, 0));
  }
}

TEST_CASE("a reset is passed on") {
  Event go, closed;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request || !proxy.send(kSwitching)) return;
    if (request->target() == "/peer") {
      if (proxy.wait(go)) proxy.reset();
    } else if (proxy.wait_closed()) {
      closed.set();
    }
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client = open_tunnel(proxy.port(), "/peer");
  go.set();
  client.read_to_end();
  CHECK(client.was_reset());
  CHECK(proxy.metric_becomes(ended("broken"), 1));

  open_tunnel(proxy.port(), "/client").reset();
  CHECK(closed.wait(kSoon));
  CHECK(proxy.metric_becomes(ended("broken"), 2));
}

TEST_CASE("a reset by a side that is held back or has half-closed is noticed too") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_head() || !proxy.send(kSwitching)) return;
    const Event never;
    proxy.wait(never);  // reads nothing
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  {
    RawClient client = open_tunnel(proxy.port());
    client.try_send(pattern(40'000'000), 300ms);
    client.reset();
    CHECK(proxy.metric_becomes(ended("broken"), 1));
  }
  RawClient client = open_tunnel(proxy.port());
  CHECK(proxy.metric_becomes(kOpen, 1));
  client.half_close();
  CHECK_FALSE(proxy.metric_becomes(kOpen, 0, 150ms));
  client.reset();
  CHECK(proxy.metric_becomes(ended("broken"), 2));
}

TEST_CASE("a tunnel that is silent both ways for the idle timeout is closed") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnel_idle_timeout_ms", 500}}},
                                                   {"app", {{"response_timeout_ms", 100}}}}));
  RawClient client = open_tunnel(proxy.port());
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(client.has_bytes(100ms));
    CHECK(client.send("hi\n").read_bytes(3) == "hi\n");
  }
  CHECK(client.is_closed());
  CHECK(proxy.metric_becomes(ended("idle"), 1));
  CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
}

TEST_CASE("there are limits.tunnels tunnels at most and the upstream hears of no other") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnels", 2}}}}));
  std::vector<RawClient> clients;
  for (const char* from : {"127.0.0.2", "127.0.0.3"})
    clients.push_back(open_tunnel(proxy.port(), "/chat", from));
  RawClient late(proxy.port());
  const Message refusal = late.ask(upgrade());
  CHECK(refusal.status() == 503);
  CHECK(refusal.body.find("TUNNEL_LIMIT") != std::string::npos);
  CHECK(refusal.field("Retry-After"));
  CHECK(peer.seen().requests == 2);
  CHECK(proxy.metric_becomes(R"(spillway_denied_total{class="P0",reason="TUNNEL_LIMIT"})", 1));
  CHECK(proxy.metric(asked("refused")) == 1);
  CHECK(late.ask(get("/")).body == "plain");
  clients.pop_back();
  CHECK(proxy.metric_becomes(kOpen, 1));
  CHECK(late.send(upgrade()).read_head().status() == 101);
}

TEST_CASE("a client gets as many tunnels as it leaves to others") {
  ScriptedPeer peer(echo_lines);
  nlohmann::json settings = never_shed({{"limits", {{"tunnels", 8}}}});
  std::string forwarded;
  std::size_t most = 4;
  SUBCASE("by its address") {}
  SUBCASE("by the address that a trusted peer names") {
    settings["trusted_peers"] = {"127.0.0.2"};
    forwarded = "X-Forwarded-For: 192.0.2.1\r\n";
  }
  SUBCASE("a trusted peer that names none has them all") {
    settings["trusted_peers"] = {"127.0.0.2"};
    most = 8;
  }
  ProxyUnderTest proxy(peer.address(), settings);
  std::vector<RawClient> greedy;
  Message told;
  do {
    RawClient& next = greedy.emplace_back(proxy.port(), 0, "127.0.0.2");
    told = next.send(upgrade("/chat", forwarded)).read_head();
  } while (told.status() == 101);
  CHECK(greedy.size() - 1 == most);
  CHECK(told.status() == 503);
  RawClient other(proxy.port(), 0, "127.0.0.3");
  CHECK(other.send(upgrade()).read_head().status() == (most == 8 ? 503 : 101));
}

TEST_CASE("tunnels leave half of the connections to others") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"connections", 8}}}}));
  CHECK(proxy.state()["tunnels"]["limit"] == 4);
  const std::vector<const char*> addresses{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"};
  std::vector<RawClient> greedy;
  for (const char* from : addresses) greedy.push_back(open_tunnel(proxy.port(), "/chat", from));
  RawClient other(proxy.port());
  CHECK(other.ask(upgrade()).status() == 503);
  CHECK(other.ask(get("/")).body == "plain");
}

TEST_CASE("an upgrade that the upstream declines is an ordinary request and takes no place") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) proxy.send(ok(request->target()));
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"tunnels", 1}}}}));
  RawClient client(proxy.port());
  client.send(upgrade("/one") + get("/two") + upgrade("/three"));
  for (const char* target : {"/one", "/two", "/three"})
    CHECK(client.read_response().body == target);
  CHECK(proxy.metric(asked("declined")) == 2);
  CHECK(proxy.metric_becomes(R"(spillway_upstream_duration_seconds_count{upstream="app"})", 3));
  CHECK(proxy.metric(kOpen) == 0);
  CHECK(peer.seen().connections == 1);
}

TEST_CASE("what may not be upgraded is asked for without a word of it") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) proxy.send(ok("plain"));
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"routes",
                                                    {{{"name", "none"},
                                                      {"match", {{"path", "/none"}}},
                                                      {"class", "P0"},
                                                      {"upstream", "app"},
                                                      {"upgrades", nlohmann::json::array()}}}}}));
  const std::string h2c =
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";
  const std::string lines = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const std::vector<std::string> requests{
      get("/", h2c),
      get("/", "Connection: Upgrade\r\nUpgrade: tls/1.2\r\n"),
      get("/", "Upgrade: websocket\r\n"),
      get("/none", lines),
      post("/", "body", lines),
      "GET / HTTP/1.0\r\nHost: a.example\r\n" + lines + "\r\n",
  };
  for (const std::string& request : requests) {
    CAPTURE(request);
    CHECK(RawClient(proxy.port()).ask(request).body == "plain");
  }
  for (const std::string& received : peer.seen().received) {
    CAPTURE(received);
    CHECK(received.find("pgrade") == std::string::npos);
    CHECK(received.find("h2c") == std::string::npos);
    CHECK(received.find("HTTP2-Settings") == std::string::npos);
  }
}

TEST_CASE("a 101 that was not asked for is no answer") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    std::string answer = kSwitching;
    if (request->target() == "/other") answer.replace(answer.find("websocket"), 9, "mqtt");
    proxy.send(answer);
    proxy.wait_closed();
  });
  ProxyUnderTest proxy(peer.address(), never_shed());
  for (const std::string& request :
       {get("/"), get("/", "Upgrade: websocket\r\n"), upgrade("/other")}) {
    RawClient client(proxy.port());
    const Message answer = client.ask(request);
    CHECK(answer.status() == 502);
    CHECK(answer.body.find("UPSTREAM_INVALID") != std::string::npos);
  }
  CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
  CHECK(proxy.metric(kOpen) == 0);
}

TEST_CASE("an upgrade never asks the store nor fills it") {
  ScriptedPeer peer(echo_lines);
  ProxyUnderTest proxy(peer.address(), everything_stored());
  CHECK(RawClient(proxy.port()).ask(get("/other")).body == "plain");
  RawClient client = open_tunnel(proxy.port());
  RawClient another = open_tunnel(proxy.port());
  CHECK(another.send("hi\n").read_bytes(3) == "hi\n");
  CHECK(proxy.metric_becomes(R"(spillway_cache_lookups_total{route="stored",result="bypass"})", 2));
}

}  // namespace
}  // namespace spillway::support
