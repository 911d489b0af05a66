// A server that keeps failing is left alone for a while, if the operator wants it so.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
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

// Opens after so many failures in a row; longer than any test takes unless it says otherwise.
json breaker(int failures, int open_ms = kHour) {
  return {{"consecutive_failures", failures}, {"open_ms", open_ms}, {"max_open_ms", kHour}};
}

// One worker, since each judges for itself.
json guarded(const std::vector<std::string>& servers, const json& circuit_breaker,
             json upstream = json::object()) {
  if (!circuit_breaker.is_null()) upstream["circuit_breaker"] = circuit_breaker;
  return configuration(servers, never_shed({{"workers", 1}, {"app", upstream}}));
}

// So many that 20 of their requests are left when some of them share a bucket (FailingSources) with
// the client whose requests fail.
std::vector<RawClient> served_others(std::uint16_t port) {
  std::vector<RawClient> clients;
  for (int n = 0; n < 8; ++n)
    clients.emplace_back(port, 0, ("127.0.1." + std::to_string(n + 1)).c_str());
  for (int n = 0; n < 5; ++n) {
    for (RawClient& each : clients) CHECK(each.ask(get("/")).status() == 200);
  }
  return clients;
}

void check_circuit_open(const Message& answer) {
  CHECK(answer.status() == 503);
  CHECK(field(answer, "Proxy-Status") ==
        "spillway; error=destination_unavailable; details=\"CIRCUIT_OPEN\"");
  CHECK(answer.body.find("\"reason\":\"CIRCUIT_OPEN\"") != std::string::npos);
  CHECK(std::stoi(field(answer, "Retry-After")) > 0);
}

std::string circuit_open(const std::string& server) {
  return "spillway_server_circuit_open{upstream=\"app\",server=\"" + server + "\"}";
}

const std::string kBroken = "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n";

TEST_CASE("a failing upstream is asked until its circuit opens and not after that") {
  const ScriptedPeer peer(kBroken);
  const ProxyUnderTest proxy(guarded({peer.address()}, breaker(3)));
  RawClient client(proxy.port());
  for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/")).status() == 500);
  const Message refusal = client.ask(get("/"));
  check_circuit_open(refusal);
  // An hour, give or take a tenth, and up to half as much again to spread the crowd.
  const int retry_after = std::stoi(field(refusal, "Retry-After"));
  CHECK(retry_after >= 3600 * 9 / 10);
  CHECK(retry_after <= 3600 * 11 / 10 * 3 / 2);
  check_circuit_open(client.ask(post("/", "body")));
  check_circuit_open(client.ask(get("/")));
  // No request waits for a body that will not be sent on.
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  check_circuit_open(client.read_response());

  CHECK(peer.seen().requests == 3);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 1);
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="default",class="P0",outcome="error"})", 4));
  CHECK(proxy.metric_becomes(R"(spillway_errors_total{class="P0",reason="CIRCUIT_OPEN"})", 4));
  CHECK(proxy.metrics().find("spillway_denied_total{class=\"P0\",reason=\"CIRCUIT_OPEN\"") ==
        std::string::npos);
  CHECK(proxy.metric(circuit_open(peer.address())) == 1);
  // It is not asked any more, so that nothing is added.
  CHECK(proxy.metric("spillway_server_failures_total{upstream=\"app\",server=\"" + peer.address() +
                     "\",kind=\"error_status\"}") == 3);
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
}

TEST_CASE("without a circuit breaker every request finds out by itself") {
  const ScriptedPeer peer(kBroken);
  const ProxyUnderTest proxy(guarded({peer.address()}, nullptr));
  RawClient client(proxy.port());
  for (int n = 0; n < 30; ++n) CHECK(client.ask(get("/")).status() == 500);
  CHECK(peer.seen().requests == 30);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"].is_null());
  CHECK(proxy.metrics().find("spillway_server_circuit_open{") == std::string::npos);
}

TEST_CASE("a client that asks for what fails does not have the circuit opened for others") {
  const ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request())
      proxy.send(request->start_line.find("/broken") != std::string::npos ? kBroken : ok("well"));
  });
  const ProxyUnderTest proxy(guarded({peer.address()}, breaker(3)));
  RawClient one(proxy.port(), 0, "127.0.0.2");
  std::vector<RawClient> others = served_others(proxy.port());
  RawClient& other = others.front();
  for (int n = 0; n < 50; ++n) CHECK(one.ask(get("/broken" + std::to_string(n))).status() == 500);
  CHECK(other.ask(get("/")).status() == 200);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
  // What fails for others, too, is the server's, once it has answered nobody for a while.
  const Deadline deadline;
  for (int n = 0; proxy.state()["upstreams"][0]["open_circuits"] == 0; ++n) {
    REQUIRE(!deadline.passed());
    (n % 2 == 0 ? one : other).ask(get("/broken" + std::to_string(n)));
  }
  check_circuit_open(other.ask(get("/")));
}

TEST_CASE("nor does a client whose requests get no response, as long as others get one") {
  enum class Way { closes, says_nonsense, hangs };
  for (const Way way : {Way::closes, Way::says_nonsense, Way::hangs}) {
    CAPTURE(static_cast<int>(way));
    std::atomic<bool> is_down = false;
    const ScriptedPeer peer([&](PeerConnection& proxy) {
      while (const auto request = proxy.read_request()) {
        if (is_down || request->start_line.find("/broken") != std::string::npos) {
          if (way == Way::says_nonsense) proxy.send("nonsense\r\n\r\n");
          if (way == Way::hangs) proxy.wait_closed();
          return;
        }
        proxy.send(ok("well"));
      }
    });
    const ProxyUnderTest proxy(
        guarded({peer.address()}, breaker(3), {{"response_timeout_ms", 200}}));
    RawClient one(proxy.port(), 0, "127.0.0.2");
    std::vector<RawClient> others = served_others(proxy.port());
    RawClient& other = others.front();
    const int status = way == Way::hangs ? 504 : 502;
    for (int n = 0; n < 8; ++n)
      CHECK(one.ask(get("/broken" + std::to_string(n))).status() == status);
    CHECK(other.ask(get("/")).status() == 200);
    CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
    // Nobody gets one: the server's.
    is_down = true;
    const Deadline deadline;
    for (int n = 0; proxy.state()["upstreams"][0]["open_circuits"] == 0; ++n) {
      REQUIRE(!deadline.passed());
      (n % 2 == 0 ? one : other).ask(get("/" + std::to_string(n)));
    }
    check_circuit_open(other.ask(get("/")));
  }
}

TEST_CASE("nor does it keep a circuit open that lets requests through to try") {
  for (const std::string& broken :
       {kBroken, std::string("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\nabc")}) {
    CAPTURE(broken);
    std::atomic<bool> is_down = true;
    const ScriptedPeer peer([&](PeerConnection& proxy) {
      const auto request = proxy.read_request();
      if (!request || is_down) return;
      proxy.send(request->start_line.find("/broken") != std::string::npos ? broken : ok("well"));
    });
    const ProxyUnderTest proxy(guarded({peer.address()}, breaker(1, 1000)));
    const auto ask = [&](const std::string& address, const std::string& path) {
      RawClient client(proxy.port(), 0, address.c_str());
      return client.send(get(path, "Connection: close\r\n")).read_to_end();
    };
    CHECK(ask("127.0.0.3", "/").starts_with("HTTP/1.1 502"));
    is_down = false;
    const Deadline deadline;
    while (ask("127.0.0.2", "/broken").find("CIRCUIT_OPEN") != std::string::npos)
      REQUIRE(!deadline.passed());
    CHECK(ask("127.0.0.2", "/").find("CIRCUIT_OPEN") != std::string::npos);
    CHECK(ask("127.0.0.3", "/broken").find("CIRCUIT_OPEN") != std::string::npos);
    for (int n = 0; n < 3; ++n) CHECK(ask("127.0.0.3", "/").starts_with("HTTP/1.1 200"));
    CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
}

TEST_CASE("every way to fail counts against the circuit") {
  const auto check_opens = [](const std::string& server, int status) {
    const ProxyUnderTest proxy(guarded({server}, breaker(1), {{"response_timeout_ms", 50}}));
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).status() == status);
    check_circuit_open(client.ask(get("/")));
  };
  SUBCASE("a status that says so") {
    for (const int status : {500, 502, 503, 504}) {
      CAPTURE(status);
      const ScriptedPeer peer("HTTP/1.1 " + std::to_string(status) +
                              " Broken\r\nContent-Length: 0\r\n\r\n");
      check_opens(peer.address(), status);
    }
  }
  SUBCASE("no connection") {
    const RefusingPort down;
    check_opens(down.address(), 502);
  }
  SUBCASE("a connection that ends without an answer") {
    const ScriptedPeer peer([](PeerConnection& proxy) { proxy.read_request(); });
    check_opens(peer.address(), 502);
  }
  SUBCASE("nonsense") {
    const ScriptedPeer peer("nonsense\r\n\r\n");
    check_opens(peer.address(), 502);
  }
  SUBCASE("silence") {
    const ScriptedPeer peer([](PeerConnection& proxy) {
      if (proxy.read_request()) proxy.wait_closed();
    });
    check_opens(peer.address(), 504);
  }
}

TEST_CASE("an answer that is the request's own fault or a client that leaves opens no circuit") {
  for (const int status : {400, 404, 429, 501}) {
    CAPTURE(status);
    const ScriptedPeer peer("HTTP/1.1 " + std::to_string(status) +
                            " No\r\nContent-Length: 0\r\n\r\n");
    const ProxyUnderTest proxy(guarded({peer.address()}, breaker(1)));
    RawClient client(proxy.port());
    for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/")).status() == status);
  }

  Backend backend;
  const ProxyUnderTest proxy(guarded({backend.peer.address()}, breaker(1)));
  {
    RawClient leaver(proxy.port());
    leaver.send(get("/held"));
    CHECK(backend.holds(1));
  }
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", 1));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
}

TEST_CASE("the share of failures in the window opens a circuit too") {
  Backend backend;
  json settings = breaker(0);
  settings["failure_rate"] = 0.5;
  settings["min_samples"] = 6;
  const ProxyUnderTest proxy(guarded({backend.peer.address()}, settings));
  RawClient client(proxy.port());
  for (int n = 0; n < 3; ++n) {
    CHECK(client.ask(get("/")).status() == 200);
    CHECK(client.ask(get("/fail")).status() == 500);
  }
  check_circuit_open(client.ask(get("/")));
}

TEST_CASE("what is stored is given in place of CIRCUIT_OPEN") {
  Origin origin;
  json settings = overloadable(
      origin.peer.address(),
      {{"more_routes",
        {cached_route("page"), cached_route("plain", {}, cache({{"stale_if_error", false}}))}}});
  settings["upstreams"][0]["circuit_breaker"] = breaker(1);
  const ProxyUnderTest proxy(settings);
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?old")).body == "1");
  CHECK(client.ask(get("/plain?old")).body == "2");
  CHECK(client.ask(get("/fail")).status() == 500);
  for (int n = 0; n < 3; ++n) {
    const Message answer = client.ask(get("/page?old"));
    CHECK(answer.status() == 200);
    CHECK(answer.body == "1");
    CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=CIRCUIT_OPEN");
    CHECK(field(answer, "Cache-Status").starts_with("spillway; hit; ttl=-"));
  }
  check_circuit_open(client.ask(get("/page/other")));
  check_circuit_open(client.ask(get("/plain?old")));
  CHECK(origin.peer.seen().requests == 3);
}

TEST_CASE("after its time one request at a time tries and three that succeed close the circuit") {
  Backend backend;
  const ProxyUnderTest proxy(guarded({backend.peer.address()}, breaker(1, 300)));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/fail")).status() == 500);
  check_circuit_open(client.ask(get("/")));
  const Deadline deadline;
  while (client.ask(get("/")).status() != 200) REQUIRE(!deadline.passed());

  RawClient second(proxy.port());
  second.send(get("/held"));
  CHECK(backend.holds(3));
  check_circuit_open(client.ask(get("/")));
  backend.go.set();
  CHECK(second.read_response().status() == 200);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 1);
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
  CHECK(proxy.metric(circuit_open(backend.peer.address())) == 0);
}

TEST_CASE("a probe whose client leaves makes room for another") {
  Backend backend;
  const ProxyUnderTest proxy(guarded({backend.peer.address()}, breaker(1, 300)));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/fail")).status() == 500);
  const Deadline deadline;
  while (client.ask(get("/")).status() != 200) REQUIRE(!deadline.passed());
  {
    RawClient leaver(proxy.port());
    leaver.send(get("/held"));
    CHECK(backend.holds(3));
    check_circuit_open(client.ask(get("/")));
  }
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", 1));
  CHECK(client.ask(get("/")).status() == 200);
}

TEST_CASE("a server whose circuit is open is passed by") {
  const ScriptedPeer sick(kBroken);
  const ScriptedPeer sound(ok("sound"));
  const ProxyUnderTest proxy(guarded({sick.address(), sound.address()}, breaker(2)));
  RawClient client(proxy.port());
  for (int n = 0; n < 4; ++n) client.ask(get("/"));
  for (int n = 0; n < 20; ++n) CHECK(client.ask(get("/")).body == "sound");
  CHECK(sick.seen().requests == 2);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 1);
}

TEST_CASE("requests waiting for a slot are refused as well") {
  Event go;
  const ScriptedPeer peer([&](PeerConnection& connection) {
    while (connection.read_request() && connection.wait(go)) connection.send(kBroken);
  });
  json settings = guarded({peer.address()}, breaker(1));
  settings["classes"] = patient_classes();
  settings["dispatch"]["concurrency"] = 1;
  const ProxyUnderTest proxy(settings);
  RawClient first(proxy.port());
  first.send(get("/1"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient second(proxy.port());
  second.send(get("/2"));
  CHECK(proxy.state_becomes(
      [](const auto& state) { return state["upstreams"][0]["dispatch"]["queued"] == 1; }));
  go.set();
  CHECK(first.read_response().status() == 500);
  check_circuit_open(second.read_response());
  CHECK(peer.seen().requests == 1);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

}  // namespace
}  // namespace spillway::support
