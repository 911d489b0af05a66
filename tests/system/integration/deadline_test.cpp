// The deadline of a request: where it comes from, what it ends, and what the upstream is told.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/origin.hpp"
#include "system/integration/stopwatch.hpp"

using namespace spillway::support;
using nlohmann::json;

namespace {

std::int64_t unix_time() {
  return std::chrono::duration_cast<Milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Takes requests and answers none.
ScriptedPeer::Script silent() {
  return [](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();
  };
}

json with_deadline(int deadline_ms) {
  return never_shed({{"default_route", {{"deadline_ms", deadline_ms}}}});
}

void check_expired(const Message& answer, int status = 504) {
  CHECK(answer.status() == status);
  CHECK(answer.body.find("DEADLINE_EXPIRED") != std::string::npos);
  CHECK(answer.field("Proxy-Status").value_or("(none)") ==
        "spillway; error=http_response_timeout; details=\"DEADLINE_EXPIRED\"");
}

// What the upstream is told of a request with these lines: the value of the field, or "".
struct Told {
  std::string request_deadline;
  std::string grpc_timeout;
};
Told told(const json& settings, const std::string& lines) {
  Told result;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    result = {request->field("X-Request-Deadline").value_or(""),
              request->field("grpc-timeout").value_or("")};
    CHECK(count(request->fields, "X-Request-Deadline") <= 1);
    CHECK(count(request->fields, "grpc-timeout") <= 1);
    proxy.send(ok("answer"));
  });
  const ProxyUnderTest proxy(peer.address(), settings);
  CHECK(RawClient(proxy.port()).ask(get("/", lines)).body == "answer");
  return result;
}

// "1743ms": at most `most` and no less than a slow machine takes away from it.
void check_left(const std::string& text, const std::string& unit, double most) {
  CAPTURE(text);
  REQUIRE(text.size() > unit.size());
  CHECK(text.ends_with(unit));
  char* end = nullptr;
  const double left = std::strtod(text.c_str(), &end);
  CHECK(std::string(end) == unit);
  CHECK(left <= most);
  CHECK(left >= 0.8 * most);
}

}  // namespace

TEST_CASE("a deadline ends the wait for an answer wherever it comes from") {
  struct Case {
    json settings;
    std::string lines;
  };
  const std::vector<Case> cases = {
      {never_shed(), "X-Request-Deadline: 200ms\r\n"},
      {never_shed(), "grpc-timeout: 200m\r\n"},
      {never_shed(), "grpc-timeout: 200000u\r\nX-Request-Deadline: 30s\r\n"},
      {with_deadline(200), ""},
      // A client can only shorten it.
      {with_deadline(200), "X-Request-Deadline: 30s\r\n"},
      {with_deadline(200), "grpc-timeout: 99999999H\r\n"},
      {with_deadline(30'000), "X-Request-Deadline: 200ms\r\n"},
      {with_deadline(200), "X-Request-Deadline: -1s\r\n"},
  };
  for (const Case& each : cases) {
    for (const bool is_post : {false, true}) {
      CAPTURE(each.lines);
      ScriptedPeer peer(silent());
      const ProxyUnderTest proxy(peer.address(), each.settings);
      RawClient client(proxy.port());
      const Stopwatch stopwatch;
      check_expired(client.ask(is_post ? post("/", "body", each.lines) : get("/", each.lines)));
      CHECK(stopwatch.elapsed() >= Milliseconds(200));
      CHECK(stopwatch.elapsed() < Milliseconds(200) + kSoon * 5);
      CHECK(peer.wait_until([](const auto& seen) { return seen.open == 0; }));
      CHECK(peer.seen().requests == 1);
      CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
    }
  }
}

TEST_CASE("a deadline that the client chose is no denial by the proxy") {
  ScriptedPeer peer(silent());
  json settings =
      never_shed({{"dispatch", {{"concurrency", 1}}}, {"default_route", {{"class", "P0"}}}});
  const ProxyUnderTest proxy(peer.address(), settings);
  RawClient holder(proxy.port());
  holder.send(get("/"));
  REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));
  RawClient client(proxy.port());
  int sent = 0;
  for (const char* deadline :
       {"X-Request-Deadline: 0ms", "X-Request-Deadline: 0s", "X-Request-Deadline: 1000000000000",
        "X-Request-Deadline: 1ms", "X-Request-Deadline: 20ms", "grpc-timeout: 0n",
        "grpc-timeout: 9m"}) {
    CAPTURE(deadline);
    const Message answer = client.ask(get("/", std::string(deadline) + "\r\n"));
    CHECK(answer.status() == 503);
    CHECK(answer.body.find("DEADLINE_EXPIRED") != std::string::npos);
    CHECK(proxy.metric_becomes(R"(spillway_errors_total{class="P0",reason="DEADLINE_EXPIRED"})",
                               ++sent));
  }
  const std::string page = proxy.metrics();
  std::size_t at = page.find("\nspillway_denied_total{class=\"P0\"");
  REQUIRE(at != page.npos);
  for (; at != page.npos; at = page.find("\nspillway_denied_total{class=\"P0\"", at + 1))
    CHECK(page.substr(page.find('}', at), 3) == "} 0");
}

TEST_CASE("Unix time is a deadline like any other") {
  ScriptedPeer peer(silent());
  const ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  const Stopwatch stopwatch;
  check_expired(
      client.ask(get("/", "X-Request-Deadline: " + std::to_string(unix_time() + 300) + "\r\n")));
  CHECK(stopwatch.elapsed() >= Milliseconds(250));
  CHECK(stopwatch.elapsed() < Milliseconds(300) + kSoon * 5);
}

TEST_CASE("the deadline of a class ends the wait for a slot and not for an answer") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request() || proxy.wait_closed(Milliseconds(400))) return;
    proxy.send(ok("late"));
  });
  json settings = never_shed();
  settings["classes"] = {{{"name", "P0"}, {"sla_ms", 100}}};
  const ProxyUnderTest proxy(peer.address(), settings);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "late");
}

TEST_CASE("a body that comes after the deadline still comes") {
  // The answer has begun: whether its rest is of use is for the client to say.
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    if (!proxy.wait_closed(Milliseconds(400))) proxy.send("late");
  });
  const ProxyUnderTest proxy(peer.address(), with_deadline(200));
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "late");
}

TEST_CASE("a deadline that has passed on arrival is refused and asks nothing of the upstream") {
  ScriptedPeer peer(silent());
  const ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  for (const std::string& lines :
       {std::string("X-Request-Deadline: 0ms\r\n"), std::string("grpc-timeout: 0n\r\n"),
        "X-Request-Deadline: " + std::to_string(unix_time() - 1) + "\r\n",
        std::string("X-Request-Deadline: 000000000000\r\n")}) {
    check_expired(client.ask(get("/", lines)), 503);
    check_expired(client.ask(post("/", "body", lines)), 503);
  }
  CHECK(peer.seen().requests == 0);
}

TEST_CASE("a deadline that passes says nothing about the server") {
  Event go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() != "/" && !proxy.wait(go)) return;
      if (!proxy.send(ok("answer"))) return;
    }
  });
  const json breaker = {{"consecutive_failures", 2}, {"open_ms", 60'000}, {"max_open_ms", 60'000}};
  const ProxyUnderTest proxy(peer.address(),
                             never_shed({{"app", {{"circuit_breaker", breaker}}}, {"workers", 1}}));
  RawClient client(proxy.port());
  for (int i = 0; i < 4; ++i)
    check_expired(client.ask(get("/slow", "X-Request-Deadline: 50ms\r\n")));
  CHECK(client.ask(get("/")).body == "answer");
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
}

TEST_CASE("what is left goes on in the form it came") {
  check_left(told(never_shed(), "X-Request-Deadline: 60s\r\n").request_deadline, "ms", 60'000);
  check_left(told(never_shed(), "X-Request-Deadline: 60000ms\r\n").request_deadline, "ms", 60'000);
  CHECK(told(never_shed(), "X-Request-Deadline: 60s\r\n").grpc_timeout.empty());

  const Told grpc = told(never_shed(), "grpc-timeout: 1M\r\n");
  check_left(grpc.grpc_timeout, "u", 60'000'000);
  CHECK(grpc.request_deadline.empty());

  const std::string at = std::to_string(unix_time() + 60'000);
  CHECK(told(never_shed(), "X-Request-Deadline: " + at + "\r\n").request_deadline == at);

  // The earlier one in both.
  const Told both = told(never_shed(), "grpc-timeout: 50S\r\nX-Request-Deadline: 60s\r\n");
  check_left(both.grpc_timeout, "u", 50'000'000);
  check_left(both.request_deadline, "ms", 50'000);
}

TEST_CASE("the deadline of a route goes on and shortens that of a client") {
  check_left(told(with_deadline(50'000), "").request_deadline, "ms", 50'000);
  check_left(told(with_deadline(50'000), "X-Request-Deadline: 60s\r\n").request_deadline, "ms",
             50'000);
  check_left(told(with_deadline(50'000), "X-Request-Deadline: 40s\r\n").request_deadline, "ms",
             40'000);
  const Told grpc = told(with_deadline(50'000), "grpc-timeout: 1H\r\n");
  check_left(grpc.grpc_timeout, "u", 50'000'000);
  CHECK(grpc.request_deadline.empty());

  const std::int64_t before = unix_time();
  const std::string far = std::to_string(before + 3'600'000);
  const std::string sent =
      told(with_deadline(50'000), "X-Request-Deadline: " + far + "\r\n").request_deadline;
  CHECK(std::stoll(sent) >= before + 50'000);
  CHECK(std::stoll(sent) <= unix_time() + 50'000);
}

TEST_CASE("no deadline is forwarded when none was set or it cannot be read") {
  for (const char* lines :
       {"", "X-Request-Deadline: soon\r\n", "X-Request-Deadline: 5s\r\nX-Request-Deadline: 5s\r\n",
        "grpc-timeout: 5\r\n", "X-Request-Deadline: 5 s\r\n"}) {
    CAPTURE(lines);
    const Told nothing = told(never_shed(), lines);
    CHECK(nothing.request_deadline.empty());
    CHECK(nothing.grpc_timeout.empty());
  }
}

TEST_CASE("time at the gate is gone from what the upstream is told") {
  Event go;
  std::string second_told;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held" && !proxy.wait(go)) return;
      if (request->target() == "/") second_told = request->field("X-Request-Deadline").value_or("");
      if (!proxy.send(ok("answer"))) return;
    }
  });
  json settings = never_shed({{"dispatch", {{"concurrency", 1}}}});
  settings["classes"] = {{{"name", "P0"}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}}};
  const ProxyUnderTest proxy(peer.address(), settings);
  RawClient first(proxy.port());
  first.send(get("/held"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient second(proxy.port());
  second.send(get("/", "X-Request-Deadline: 30s\r\n"));
  CHECK_FALSE(second.has_bytes(Milliseconds(300)));
  go.set();
  CHECK(second.read_response().body == "answer");
  CHECK(std::stoi(second_told) <= 29'750);
}

TEST_CASE("a retry tells what is left by then") {
  std::vector<std::string> told;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    told.push_back(request->field("X-Request-Deadline").value_or(""));
    if (proxy.number() == 0) {
      proxy.wait_closed(Milliseconds(300));
      return;
    }
    proxy.send(ok("answer"));
  });
  const ProxyUnderTest proxy(peer.address(), never_shed());
  CHECK(RawClient(proxy.port()).ask(get("/", "X-Request-Deadline: 30s\r\n")).body == "answer");
  REQUIRE(told.size() == 2);
  CHECK(std::stoi(told[1]) <= std::stoi(told[0]) - 250);
}

TEST_CASE("where late requests are served all the same a deadline ends nothing") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request() || proxy.wait_closed(Milliseconds(300))) return;
    proxy.send(ok("late"));
  });
  json settings = never_shed({{"dispatch", {{"late", "process_with_tag"}}}});
  const ProxyUnderTest proxy(peer.address(), settings);
  CHECK(RawClient(proxy.port()).ask(get("/", "X-Request-Deadline: 100ms\r\n")).body == "late");
}

TEST_CASE("a follower waits for the leader's response no longer than its own deadline") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(),
                   {{"more_routes", {cached_route("page", {}, cache({{"serve", "fresh"}}))}}}));
  RawClient leader(proxy.port());
  leader.send(get("/page?age=60&held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  check_expired(
      RawClient(proxy.port()).ask(get("/page?age=60&held", "X-Request-Deadline: 150ms\r\n")));
  CHECK(origin.peer.seen().requests == 1);
  origin.go.set();
  CHECK(leader.read_response().body == "1");
}

TEST_CASE("a leader whose deadline passes hands over to a follower") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(),
                   {{"more_routes", {cached_route("page", {}, cache({{"serve", "fresh"}}))}}}));
  RawClient leader(proxy.port());
  leader.send(get("/page?age=60&held", "X-Request-Deadline: 400ms\r\n"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient follower(proxy.port());
  follower.send(get("/page?age=60&held"));
  check_expired(leader.read_response());
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 2; }));
  origin.go.set();
  CHECK(follower.read_response().status() == 200);
}
