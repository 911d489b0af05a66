// Requests whose bodies end under overload: the rule in force then holds for them, whatever it was
// when their heads came.
#include <doctest/doctest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// What is spent does not come back while a test runs.
json budget(int burst) { return {{"rate", 0.001}, {"burst", burst}}; }

// A POST whose body is missing. Once its client is told to go on it has been judged.
class Post {
 public:
  Post(const ProxyUnderTest& proxy, const std::string& target, const std::string& lines = {})
      : client_(proxy.port()) {
    client_.send("POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n" + lines +
                 "Expect: 100-continue\r\n\r\n");
    is_open_ = client_.read_head().status() == 100;
  }
  bool is_open() const { return is_open_; }
  Message finish() { return client_.ask("x"); }

 private:
  RawClient client_;
  bool is_open_ = false;
};

}  // namespace

TEST_CASE("a verdict of normal operation does not outlast the wait for a body") {
  Backend backend;
  const ProxyUnderTest proxy(
      overloadable(backend.peer.address(),
                   {{"more_routes",
                     {route("cheap", "P1", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}),
                      route("half", "P2", {{"strategy", "deny"}, {"probability", 0.5}})}}}));
  RawClient client(proxy.port());
  Post denied(proxy, "/probe"), allowed(proxy, "/p2"), degraded(proxy, "/cheap");
  for (const Post* each : {&denied, &allowed, &degraded}) CHECK(each->is_open());
  std::deque<Post> halves;
  for (int n = 0; n < 30; ++n) CHECK(halves.emplace_back(proxy, "/half").is_open());
  Post normal(proxy, "/probe");
  CHECK(normal.finish().status() == 200);
  overload_by_errors(client);
  check_refusal(denied.finish(), 503, "P2", "ERROR_BURST");
  CHECK(allowed.finish().body == "/p2");
  CHECK(degraded.finish().field("Spillway-Degraded"));
  int refused = 0;
  for (Post& each : halves) refused += each.finish().status() == 503 ? 1 : 0;
  CHECK(refused > 0);
  CHECK(refused < 30);
}

TEST_CASE("a request that a rule let pass is not drawn for again when its body has come") {
  Backend backend;
  const ProxyUnderTest proxy(overloadable(
      backend.peer.address(),
      {{"more_routes", {route("half", "P2", {{"strategy", "deny"}, {"probability", 0.5}})}}}));
  RawClient client(proxy.port());
  overload_by_errors(client);
  std::deque<Post> passed;
  for (int n = 0; n < 40; ++n) {
    passed.emplace_back(proxy, "/half");
    if (!passed.back().is_open()) passed.pop_back();
  }
  CHECK(passed.size() > 0);
  CHECK(passed.size() < 40);
  for (Post& each : passed) CHECK(each.finish().status() == 200);
}

TEST_CASE("budgets count a request once, when its body has come") {
  Backend backend;
  json changes = {{"overload", {{"rules", {{"P1", {{"budget", budget(2)}}}}}}}};
  const json acme{{"name", "acme"}, {"key", "acme-key-0"}, {"budget", budget(2)}};
  changes["tenants"]["api_keys"] = json::array({acme});
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), changes));
  RawClient client(proxy.port());
  Post first(proxy, "/p1"), second(proxy, "/p1");
  overload_by_errors(client);
  Post third(proxy, "/p1");
  CHECK(third.is_open());
  CHECK(third.finish().status() == 200);
  CHECK(first.finish().status() == 200);
  check_refusal(second.finish(), 429, "P1", "BUDGET_EXCEEDED");
  check_refusal(client.ask(get("/p1")), 429, "P1", "BUDGET_EXCEEDED");

  const std::string key = "X-Api-Key: acme-key-0\r\n";
  CHECK(Post(proxy, "/p2", key).finish().status() == 200);
  CHECK(client.ask(get("/p2", key)).status() == 200);
  check_refusal(client.ask(get("/p2", key)), 429, "P2", "BUDGET_EXCEEDED");
}

TEST_CASE(
    "the end of a request's body does not end the event stream that its client reads slowly") {
  constexpr std::size_t kBody = 300'000;
  const std::string events(std::size_t{8} << 20, 'x');  // more than the buffers of both sides hold
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_head()) return;
    proxy.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        "Transfer-Encoding: chunked\r\n\r\n800000\r\n" +
        events + "\r\n0\r\n\r\n");
    proxy.wait_closed();
  });
  const ProxyUnderTest proxy(peer.address(), streamed());
  RawClient client(proxy.port(), 4096);
  client.send("GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nContent-Length: " +
              std::to_string(kBody) + "\r\n\r\n" + std::string(kBody / 2, 'b'));
  CHECK(client.read_head().status() == 200);
  const Event nothing;
  CHECK_FALSE(nothing.wait(Milliseconds{300}));  // the stream waits for its client
  client.send(std::string(kBody / 2, 'b'));
  CHECK_FALSE(nothing.wait(Milliseconds{100}));
  CHECK(client.read_bytes(8, Milliseconds{5000}) == "800000\r\n");
  CHECK(client.read_bytes(events.size() + 7, Milliseconds{30'000}).ends_with("\r\n0\r\n\r\n"));
}

}  // namespace spillway
