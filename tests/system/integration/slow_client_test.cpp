// Clients that send and take too slowly: how long they last, and that no other is taken for one.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr Milliseconds kTick{50};
constexpr std::string_view kUpload = "POST /up HTTP/1.1\r\nHost: a.example\r\nContent-Length: ";

using Time = std::chrono::steady_clock::time_point;

// Does something every tick until `last` says stop or the time is over; how long that took.
template <class Step>
Milliseconds every_tick(Milliseconds most, const Step& step) {
  const Time begin = std::chrono::steady_clock::now();
  const Event never;
  for (Time next = begin; std::chrono::steady_clock::now() - begin < most;) {
    if (!step()) break;
    next += kTick;
    const auto left = next - std::chrono::steady_clock::now();
    if (left > 0ms) never.wait(std::chrono::ceil<Milliseconds>(left));
  }
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST_CASE("a head that trickles in has its time in all and so has one behind another request") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"header_timeout_ms", 600}}}}));
  RawClient first(proxy.port()), second(proxy.port()), quick(proxy.port());
  CHECK(second.send(get("/") + "G").read_response().status() == 200);
  quick.send("GET / HTTP/1.1\r\n");
  int ticks = 0;
  const Milliseconds took = every_tick(10s, [&] {
    if (++ticks == 5) CHECK(quick.send("Host: a\r\n\r\n").read_response().status() == 200);
    const bool first_lives = first.try_send("G") && !first.has_bytes(0ms);
    const bool second_lives = second.try_send("E") && !second.has_bytes(0ms);
    return first_lives || second_lives;
  });
  CHECK(first.read_response().status() == 408);
  CHECK(second.read_response().status() == 408);
  CHECK(took >= 500ms);
  CHECK(took < 600ms + 5 * kSoon);
}

TEST_CASE("empty lines in place of requests do not keep a connection") {
  ScriptedPeer peer(ok("x"));
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"header_timeout_ms", 200}}}}));
  RawClient client(proxy.port());
  for (int i = 0; i < 3; ++i) {  // one a request is an old client's habit (RFC 9112 section 2.2)
    CHECK(client.ask(get("/")).status() == 200);
    client.send("\r\n");
    CHECK_FALSE(client.is_closed(60ms));
  }
  client.send("\r\n");
  CHECK(client.is_closed());

  RawClient halved(proxy.port());
  halved.send("\r");
  CHECK_FALSE(halved.has_bytes(60ms));
  CHECK(halved.ask("\n" + get("/")).status() == 200);
}

// All clocks run at once: this one test takes as long as the grace and a little more.
TEST_CASE("only a client slower than the minimum rate is cut off, after the grace") {
  Event end;
  const std::string large = ok(pattern(64'000'000));
  ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_head();
    if (!request) return;
    if (request->target() == "/large") {
      proxy.send(large);
    } else if (request->target() == "/quiet") {
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx");
      proxy.wait(end);
      proxy.send("y");
    }
    proxy.wait_closed(30s);
  });
  // The streams of bodies must not be held back by an upstream that reads none.
  const auto limits = [](int rate) {
    return never_shed({{"limits", {{"min_rate_bytes", rate}}}, {"tenants", {{"fairness", false}}}});
  };
  ProxyUnderTest proxy(peer.address(), limits(10'000));
  ProxyUnderTest lenient(peer.address(), limits(0));

  RawClient awaiting(proxy.port());
  CHECK(awaiting.send(get("/quiet")).read_head().status() == 200);
  RawClient taker(proxy.port(), 4096), idler(proxy.port(), 4096), leisure(lenient.port(), 4096);
  for (RawClient* client : {&taker, &idler, &leisure}) {
    CHECK(client->send(get("/large")).read_head().status() == 200);
  }
  RawClient small(proxy.port()), streamed(proxy.port()), steady(proxy.port());
  RawClient tolerated(lenient.port()), expecting(proxy.port());
  small.send(std::string(kUpload) + "60000\r\n\r\n");
  streamed.send(std::string(kUpload) + "9000000\r\n\r\n");
  steady.send(std::string(kUpload) + "9000000\r\n\r\n");
  tolerated.send(std::string(kUpload) + "60000\r\n\r\n");
  expecting.send(std::string(kUpload) + "9000000\r\nExpect: 100-continue\r\n\r\n");

  std::optional<Milliseconds> small_took, streamed_took;
  Milliseconds now{0};
  every_tick(8s, [&] {
    now += kTick;
    if (!small_took && (!small.try_send("x") || small.has_bytes(0ms))) small_took = now;
    if (!streamed_took && (!streamed.try_send(std::string(100, 'x')) || streamed.has_bytes(0ms)))
      streamed_took = now;
    steady.send(std::string(1000, 'x'));  // twice the rate
    tolerated.send("x");
    taker.read_bytes(2000);  // four times the rate
    return true;
  });
  REQUIRE(small_took);
  CHECK(*small_took >= 4900ms);
  CHECK(*small_took < 6500ms);
  REQUIRE(streamed_took);  // a fifth of the rate: a quarter longer
  CHECK(*streamed_took >= *small_took);
  CHECK(expecting.read_response().status() == 100);  // and then it is its turn
  for (RawClient* client : {&small, &streamed, &expecting}) {
    const Message answer = client->read_response();
    CHECK(answer.status() == 408);
    CHECK(answer.field("Connection") == "close");
  }
  CHECK_FALSE(steady.has_bytes(0ms));
  CHECK_FALSE(tolerated.has_bytes(0ms));
  end.set();
  CHECK(awaiting.read_bytes(2) == "xy");
  CHECK(taker.read_bytes(100'000).size() == 100'000);
  CHECK(leisure.read_bytes(10'000'000).size() == 10'000'000);
  CHECK(idler.read_to_end().size() < 64'000'000);
  CHECK(idler.was_reset());
  CHECK(proxy.metric_becomes(R"(spillway_slow_clients_total{phase="body"})", 3));
  CHECK(proxy.metric_becomes(R"(spillway_slow_clients_total{phase="answer"})", 1));
  CHECK(lenient.metric(R"(spillway_slow_clients_total{phase="body"})") == 0);
  CHECK(lenient.metric(R"(spillway_slow_clients_total{phase="answer"})") == 0);
}

TEST_CASE("a client of modest speed makes progress though the socket has no room for long") {
  const std::string large = ok(pattern(64'000'000));
  ScriptedPeer peer([&](PeerConnection& proxy) {
    proxy.read_request();
    proxy.send(large);
    proxy.wait_closed(30s);
  });
  ProxyUnderTest proxy(peer.address(), never_shed({{"limits", {{"idle_timeout_ms", 600}}}}));
  RawClient modest(proxy.port());
  CHECK(modest.send(get("/")).read_head().status() == 200);
  RawClient idle(proxy.port());
  CHECK(idle.send(get("/")).read_head().status() == 200);
  // 400 kB a second: what the kernel has taken in lasts for many times the idle timeout.
  every_tick(kSanitized ? 4s : 3s, [&] {
    modest.read_bytes(20'000);
    return true;
  });
  CHECK(modest.read_bytes(10'000'000).size() == 10'000'000);
  idle.read_to_end();
  CHECK(idle.was_reset());
}

TEST_CASE(
    "interim responses are only so many that a client that takes none holds no slot by them") {
  const std::string hints =
      "HTTP/1.1 103 Early Hints\r\nLink: <" + std::string(8000, 'a') + ">\r\n\r\n";
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      while (request->target() == "/hints" && proxy.send(hints)) {
      }
      if (!proxy.send(ok("x"))) return;
    }
  });
  const ProxyUnderTest proxy(
      peer.address(),
      never_shed({{"classes", {{{"name", "P0"}, {"max_wait_ms", 60'000}, {"sla_ms", 60'000}}}},
                  {"dispatch", {{"concurrency", 1}}},
                  {"app", {{"response_timeout_ms", 60'000}}}}));
  RawClient deaf(proxy.port(), 4096);
  deaf.send(get("/hints"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "x");
  int status = 103;
  for (int n = 0; n < 100 && status == 103; ++n) status = deaf.read_response().status();
  CHECK(status == 502);
}

}  // namespace
}  // namespace spillway::support
