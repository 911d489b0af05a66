// A server whose responses break after a good head is held to account like one that fails at once:
// its circuit opens, and it is ejected. A client that leaves or is slow is no fault of the server.
#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr int kHour = 3'600'000;
const std::string kCounted = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n";
const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";

struct Break {
  std::string name, head, rest;
  bool stalls = false;
};

const std::vector<Break> kBreaks = {
    {"cut off", kCounted + "abc", "def"},
    {"chunks cut off", kChunked, "3\r\nde"},
    {"stalled", kCounted + "abc", "def", true},
    {"chunks stalled", kChunked, "3\r\ndef\r\n", true},
    {"a chunk that is none", kChunked, "x\r\n"},
    {"a trailer that is none", kChunked, "0\r\nA b: c\r\n\r\n"},
};

// Which connections' clients have the head.
using Heads = std::array<Event, 12>;

void set_all(Heads& heads, const ScriptedPeer& peer) {
  for (std::size_t n = 0; n < peer.seen().connections; ++n) heads[n].set();
}

// Says the rest once the client has the head, so that the response cannot become a 502.
ScriptedPeer::Script breaks(const Break& how, const Heads& heads) {
  return [&](PeerConnection& connection) {
    if (!connection.read_request() || !connection.send(how.head)) return;
    if (connection.wait(heads[connection.number()]) && connection.send(how.rest) && how.stalls)
      connection.wait_closed();
  };
}

json settings(const std::vector<std::string>& servers, json upstream) {
  upstream["response_timeout_ms"] = 200;
  return configuration(servers, never_shed({{"workers", 1}, {"app", std::move(upstream)}}));
}

json breaker(int failures) {
  return {{"circuit_breaker",
           {{"consecutive_failures", failures},
            {"failure_rate", 0},
            {"open_ms", kHour},
            {"max_open_ms", kHour}}}};
}

// The status. The connection ends with the response, good or not.
int ask_once(std::uint16_t port, Heads& heads, const ScriptedPeer& peer) {
  RawClient client(port);
  const int status = client.send(get("/", "Connection: close\r\n")).read_head().status();
  set_all(heads, peer);
  client.read_to_end();
  return status;
}

TEST_CASE("responses that break after a good head open the circuit") {
  for (const Break& how : kBreaks) {
    CAPTURE(how.name);
    Heads heads;
    ScriptedPeer peer(breaks(how, heads));
    const ProxyUnderTest proxy(settings({peer.address()}, breaker(3)));
    for (int n = 0; n < 3; ++n) CHECK(ask_once(proxy.port(), heads, peer) == 200);
    CHECK(proxy.state_becomes(
        [](const auto& state) { return state["upstreams"][0]["open_circuits"] == 1; }));
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).status() == 503);
    CHECK(peer.seen().requests == 3);
  }
}

TEST_CASE("a good response between broken ones keeps the circuit closed") {
  Heads heads;
  std::atomic<int> number = 0;
  const ScriptedPeer::Script breaks_off = breaks(kBreaks[0], heads);
  ScriptedPeer peer([&](PeerConnection& connection) {
    if (++number % 3 != 0) return breaks_off(connection);
    if (connection.read_request()) connection.send(ok("good"));
  });
  const ProxyUnderTest proxy(settings({peer.address()}, breaker(3)));
  for (int n = 0; n < 9; ++n) CHECK(ask_once(proxy.port(), heads, peer) == 200);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
}

TEST_CASE("a server whose responses break after a good head is ejected") {
  for (const Break& how : kBreaks) {
    CAPTURE(how.name);
    Heads heads;
    ScriptedPeer sick(breaks(how, heads));
    ScriptedPeer sound(ok("sound"));
    const json ejection = {{"consecutive_failures", 2}, {"base_ms", kHour}, {"max_ms", kHour}};
    const ProxyUnderTest proxy(settings({sick.address(), sound.address()},
                                        {{"balance", "round_robin"}, {"ejection", ejection}}));
    for (int n = 0; n < 12; ++n) {
      RawClient client(proxy.port());
      client.send(get("/", "Connection: close\r\n")).read_head();
      set_all(heads, sick);
      client.read_to_end();
    }
    CHECK(proxy.state_becomes(
        [](const auto& state) { return state["upstreams"][0]["servers"][0]["up"] == false; }));
    CHECK(sick.seen().requests == 2);
  }
}

bool has_open_circuit(const json& state) { return state["upstreams"][0]["open_circuits"] == 1; }

TEST_CASE("refreshes in the background that break after a good head open the circuit") {
  const std::string storable =
      "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1000\r\n\r\n";
  for (const bool stalls : {false, true}) {
    CAPTURE(stalls);
    std::atomic<int> number = 0;
    ScriptedPeer peer([&](PeerConnection& connection) {
      while (connection.read_request()) {
        if (++number > 3) {
          if (connection.send(storable + "abc") && stalls) connection.wait_closed();
          return;
        }
        const std::string stale =
            "Cache-Control: max-age=1, stale-while-revalidate=3600\r\nAge: 2\r\n";
        if (!connection.send(ok("old", stale))) return;
      }
    });
    json config = settings({peer.address()}, breaker(3));
    config["default_route"]["cache"] = cache({{"serve", "fresh"}});
    const ProxyUnderTest proxy(config);
    for (int round = 0; round < 2; ++round) {
      for (int n = 0; n < 3; ++n)
        CHECK(RawClient(proxy.port()).ask(get("/" + std::to_string(n))).body == "old");
    }
    CHECK(proxy.state_becomes(has_open_circuit));
    CHECK(peer.seen().requests == 6);
  }
}

TEST_CASE("deferred requests whose answers break after a good head open the circuit") {
  for (const bool stalls : {false, true}) {
    CAPTURE(stalls);
    ScriptedPeer peer([&](PeerConnection& connection) {
      if (connection.read_request() && connection.send(kCounted + "abc") && stalls)
        connection.wait_closed();
    });
    json config = settings({peer.address()}, breaker(3));
    config["store"]["url"] = "memory:";
    config["default_route"]["defer"] = {{"when", "always"}};
    const ProxyUnderTest proxy(config);
    for (int n = 0; n < 3; ++n)
      CHECK(RawClient(proxy.port()).ask(post("/", std::to_string(n))).status() == 202);
    CHECK(proxy.state_becomes(has_open_circuit));
    CHECK(peer.seen().requests == 3);
  }
}

TEST_CASE("clients that leave during a response open no circuit") {
  ScriptedPeer peer([&](PeerConnection& connection) {
    if (connection.read_request() && connection.send(kCounted + "abc")) connection.wait_closed();
  });
  const ProxyUnderTest proxy(settings({peer.address()}, breaker(1)));
  for (int n = 0; n < 5; ++n) {
    RawClient client(proxy.port());
    CHECK(client.send(get("/")).read_head().status() == 200);
    client.reset();
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
}

TEST_CASE("a server that loses patience with a slow client opens no circuit") {
  constexpr std::size_t kSize = std::size_t{32} << 20;  // more than all buffers hold
  Event over;
  ScriptedPeer peer([&](PeerConnection& connection) {
    if (!connection.read_request()) return;
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
    std::thread sender([&] { connection.send(std::string(kSize, 'x')); });
    connection.wait(over);
    connection.half_close();
    sender.join();
  });
  json config = settings({peer.address()}, breaker(1));
  config["limits"]["temp_file_bytes"] = 0;
  config["upstreams"][0]["response_timeout_ms"] = 10'000;  // its bytes take a while to make
  const ProxyUnderTest proxy(config);
  const Event never;
  RawClient slow(proxy.port(), 4096);
  CHECK(slow.send(get("/")).read_head().status() == 200);
  CHECK_FALSE(never.wait(Milliseconds{kSanitized ? 4000 : 1500}));
  over.set();
  CHECK(slow.read_to_end().size() < kSize);
  CHECK(proxy.metric_becomes("spillway_server_failures_total{upstream=\"app\",server=\"" +
                                 peer.address() + "\",kind=\"truncated\"}",
                             1));
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
}

TEST_CASE("a probe whose body is long does not keep the next one waiting and closes no circuit") {
  Event finish;
  std::atomic<int> number = 0;
  ScriptedPeer peer([&](PeerConnection& connection) {
    if (!connection.read_request()) return;
    if (++number == 1) {
      connection.send("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    if (connection.send(kChunked) && connection.wait(finish)) connection.send("0\r\n\r\n");
  });
  json upstream = breaker(1);
  upstream["circuit_breaker"]["open_ms"] = 50;
  json config = settings({peer.address()}, upstream);
  config["upstreams"][0]["response_timeout_ms"] = 30'000;
  const ProxyUnderTest proxy(config);
  RawClient first(proxy.port());
  CHECK(first.ask(get("/")).status() == 500);
  const auto open_circuits = [&] { return proxy.state()["upstreams"][0]["open_circuits"]; };
  const Deadline deadline;
  std::vector<RawClient> probes;
  while (probes.size() < 3 && !deadline.passed()) {
    RawClient probe(proxy.port());
    if (probe.send(get("/")).read_head().status() == 200) probes.push_back(std::move(probe));
  }
  REQUIRE(probes.size() == 3);
  CHECK(open_circuits() == 1);
  finish.set();
  CHECK(proxy.state_becomes(
      [](const auto& state) { return state["upstreams"][0]["open_circuits"] == 0; }));
}

}  // namespace
}  // namespace spillway::support
