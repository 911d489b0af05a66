// How long the proxy waits for an upstream, and what a trickle of bytes changes about it: nothing.
#include <doctest/doctest.h>

#include <string>

#include "support/full_backlog.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr Milliseconds kTotal{400};

json within_total(json app = json::object()) {
  app["total_timeout_ms"] = kTotal.count();
  return never_shed({{"app", app}});
}

// A byte every 40 ms, until all have gone or the proxy closes.
bool trickle(PeerConnection& proxy, std::string_view bytes) {
  for (const char byte : bytes) {
    if (!proxy.send({&byte, 1}) || proxy.wait_closed(Milliseconds(40))) return false;
  }
  return true;
}

ScriptedPeer::Script trickles(std::string at_once, std::string slowly, Event& cut_off) {
  return [=, &cut_off](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send(at_once);
    if (!trickle(proxy, slowly)) cut_off.set();
  };
}

const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n";
const std::string kBody(20, 'x');

void check_timeout(const Message& answer) {
  CHECK(answer.status() == 504);
  CHECK(answer.body.find("UPSTREAM_TIMEOUT") != std::string::npos);
}

}  // namespace

TEST_CASE("a response that is not complete within the total timeout is not waited for") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();
  });
  const ProxyUnderTest proxy(peer.address(), within_total());
  const Stopwatch stopwatch;
  check_timeout(RawClient(proxy.port()).ask(get("/")));
  CHECK(stopwatch.elapsed() >= kTotal);
  CHECK(stopwatch.elapsed() < kTotal + kSoon * 5);
  CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("a head that trickles in does not put off the total timeout") {
  Event cut_off;
  ScriptedPeer peer(trickles("", kHead, cut_off));
  const ProxyUnderTest proxy(peer.address(), within_total());
  const Stopwatch stopwatch;
  check_timeout(RawClient(proxy.port()).ask(get("/")));
  CHECK(stopwatch.elapsed() >= kTotal);
  CHECK(cut_off.wait());
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("neither a trickle nor interim responses put off the timeout of a response head") {
  const Milliseconds patience{300};
  const json settings = never_shed({{"app", {{"response_timeout_ms", patience.count()}}}});
  const auto hints = [](PeerConnection& proxy) {
    return proxy.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
  };
  for (const bool is_hinting : {false, true}) {
    CAPTURE(is_hinting);
    Event cut_off;
    ScriptedPeer peer([&](PeerConnection& proxy) {
      if (!proxy.read_request()) return;
      while (is_hinting ? hints(proxy) && !proxy.wait_closed(Milliseconds(40))
                        : trickle(proxy, kHead)) {
      }
      cut_off.set();
    });
    const ProxyUnderTest proxy(peer.address(), settings);
    RawClient client(proxy.port());
    const Stopwatch stopwatch;
    Message answer = client.ask(get("/"));
    while (answer.status() == 103) answer = client.read_response();
    check_timeout(answer);
    CHECK(stopwatch.elapsed() >= patience);
    CHECK(stopwatch.elapsed() < patience + kSoon * 5);
    CHECK(cut_off.wait());
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
}

TEST_CASE("the time in which a request body is sent does not count towards the response timeout") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_head() && proxy.skip_bytes(200'000) && !proxy.wait_closed(Milliseconds(150)))
      proxy.send(ok("done"));
  });
  const ProxyUnderTest proxy(peer.address(), streamed({{"app", {{"response_timeout_ms", 300}}}}));
  RawClient client(proxy.port());
  const std::string request = post("/", pattern(200'000));
  client.send(std::string_view(request).substr(0, 100'000));
  CHECK_FALSE(client.has_bytes(Milliseconds(400)));
  CHECK(client.ask(std::string_view(request).substr(100'000)).body == "done");
}

TEST_CASE("a body that trickles in does not put off the total timeout and is cut off") {
  Event cut_off;
  ScriptedPeer peer(trickles(kHead, kBody, cut_off));
  const ProxyUnderTest proxy(peer.address(), within_total({{"response_timeout_ms", 200}}));
  RawClient client(proxy.port());
  const Stopwatch stopwatch;
  client.send(get("/"));
  const std::string answer = client.read_to_end();
  CHECK(client.was_reset());
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(answer.find(kBody) == std::string::npos);
  CHECK(stopwatch.elapsed() >= kTotal);
  CHECK(stopwatch.elapsed() < kTotal + kSoon * 5);
  CHECK(cut_off.wait());
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("an endless body that comes as fast as it can is cut off too") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
    while (proxy.send(chunk)) {
    }
  });
  const ProxyUnderTest proxy(peer.address(), within_total());
  RawClient client(proxy.port());
  client.send(get("/"));
  client.read_to_end();
  CHECK(client.was_reset());
}

TEST_CASE("without a total timeout a trickle is waited for") {
  Event cut_off;
  ScriptedPeer peer(trickles(kHead, kBody, cut_off));
  const ProxyUnderTest proxy(peer.address(), never_shed({{"app", {{"response_timeout_ms", 200}}}}));
  const Stopwatch stopwatch;
  CHECK(RawClient(proxy.port()).ask(get("/")).body == kBody);
  CHECK(stopwatch.elapsed() > kTotal);
  CHECK_FALSE(cut_off.is_set());
}

TEST_CASE("a request body that trickles in does not put off the total timeout and is no failure") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_head()) proxy.skip_bytes(1'000'000);
  });
  const json breaker = {{"consecutive_failures", 1}, {"open_ms", 60'000}, {"max_open_ms", 60'000}};
  const ProxyUnderTest proxy(peer.address(), within_total({{"circuit_breaker", breaker}}));
  RawClient client(proxy.port());
  client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + pattern(70'000));
  const Stopwatch stopwatch;
  while (!client.has_bytes(Milliseconds(40)) && client.try_send("x")) {
    REQUIRE(stopwatch.elapsed() < kPatience);
  }
  CHECK(client.read_response().status() == 408);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
}

TEST_CASE("time at the gate is not counted into the total timeout") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held" && !proxy.wait(go)) return;
      if (!proxy.send(ok("answer"))) return;
    }
  });
  json settings = within_total();
  settings["dispatch"]["concurrency"] = 1;
  settings["classes"] = {{{"name", "P0"}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}}};
  settings["default_route"]["class"] = "P0";
  const ProxyUnderTest proxy(peer.address(), settings);
  RawClient first(proxy.port());
  first.send(get("/held"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient second(proxy.port());
  second.send(get("/"));
  // The first one ends by the total timeout, after which the second one has all its time.
  check_timeout(first.read_response());
  CHECK(second.read_response().body == "answer");
}

TEST_CASE("a client that takes nothing does not hold the upstream beyond the total timeout") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    while (proxy.send(std::string(65536, 'x'))) {
    }
  });
  const ProxyUnderTest proxy(peer.address(), within_total());
  RawClient client(proxy.port(), 4096);
  client.send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.connections == 1 && seen.open == 0; }));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("a server that takes no connection is given up after the connect timeout") {
  const FullBacklog full;
  const ProxyUnderTest proxy(full.address(), never_shed({{"app", {{"connect_timeout_ms", 150}}}}));
  const Stopwatch stopwatch;
  const Message answer = RawClient(proxy.port()).ask(get("/"));
  CHECK(answer.status() == 504);
  CHECK(answer.field("Proxy-Status").value_or("").find("error=connection_timeout") !=
        std::string::npos);
  CHECK(stopwatch.elapsed() >= Milliseconds(150));
  CHECK(stopwatch.elapsed() < Milliseconds(150) + kSoon * 5);
  // Not tried again: it took time enough.
  CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="sent"})") == 0);
}
