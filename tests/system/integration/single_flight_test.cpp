// However many ask for the same thing, one of them asks the upstream.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/counting_backend.hpp"
#include "system/integration/origin.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json fresh(const std::string& server, int workers = 2) {
  json settings = overloadable(
      server, {{"more_routes", {cached_route("page", {}, cache({{"serve", "fresh"}}))}}});
  settings["workers"] = workers;
  return settings;
}

// Asks for the same thing and tells nobody.
std::vector<RawClient> crowd(const ProxyUnderTest& proxy, int size, std::string_view target) {
  std::vector<RawClient> clients;
  for (int n = 0; n < size; ++n) clients.emplace_back(proxy.port()).send(get(target));
  return clients;
}

}  // namespace

TEST_CASE("of a thousand misses at once one asks the upstream for all with two workers") {
  Origin origin;
  const ProxyUnderTest proxy(fresh(origin.peer.address()));
  std::vector<RawClient> clients = crowd(proxy, 1000, "/page?age=60&held");
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  // Everybody has been read: who asks now on any worker is answered.
  for (int n = 0; n < 8; ++n) CHECK(RawClient(proxy.port()).ask(get("/p1")).status() == 200);
  origin.go.set();
  for (RawClient& client : clients) {
    const Message answer = client.read_response();
    CHECK(answer.status() == 200);
    CHECK(answer.field("Spillway-Degraded") == std::nullopt);
  }
  CHECK(origin.peer.seen().requests == 9);
  REQUIRE(proxy.metric_becomes(
      R"(spillway_requests_total{route="page",class="P1",outcome="cached"})", 999));
  CHECK(proxy.metric(lookups("page", "collapsed")) + proxy.metric(lookups("page", "fresh")) == 999);
  CHECK(proxy.metric(lookups("page", "collapsed")) > 500);
}

TEST_CASE(
    "an upgrade that its route does not allow keeps nobody out of a flight nor of the store") {
  Origin origin;
  const ProxyUnderTest proxy(fresh(origin.peer.address()));
  const auto asking_for = [](const std::string& protocol, std::string_view target) {
    return get(target, "Connection: upgrade\r\nUpgrade: " + protocol + "\r\n");
  };
  std::vector<RawClient> clients;
  for (int n = 0; n < 20; ++n)
    clients.emplace_back(proxy.port()).send(asking_for("x", "/page?age=60&held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  origin.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().body == "1");
  CHECK(RawClient(proxy.port()).ask(asking_for("h2c", "/page?age=60&held")).body == "1");
  CHECK(origin.peer.seen().requests == 1);
  // The control: what may become a tunnel asks the upstream.
  CHECK(RawClient(proxy.port()).ask(asking_for("websocket", "/page?age=60&held")).body == "2");
}

TEST_CASE("without a cache each of them asks the upstream") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(origin.peer.address()));
  std::vector<RawClient> clients = crowd(proxy, 20, "/p1?age=60&held");
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 20; }));
  origin.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
}

TEST_CASE("when the leading client leaves the next one asks in its place") {
  Origin origin;
  const ProxyUnderTest proxy(fresh(origin.peer.address(), 1));
  RawClient first(proxy.port());
  first.send(get("/page?age=60&held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  std::vector<RawClient> others = crowd(proxy, 3, "/page?age=60&held");
  CHECK(RawClient(proxy.port()).ask(get("/p1")).status() == 200);
  first.close();
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 3; }));
  origin.go.set();
  for (RawClient& client : others) CHECK(client.read_response().status() == 200);
  CHECK(origin.peer.seen().requests == 3);
}

TEST_CASE("a follower may leave") {
  Origin origin;
  const ProxyUnderTest proxy(fresh(origin.peer.address(), 1));
  RawClient first(proxy.port());
  first.send(get("/page?age=60&held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  RawClient(proxy.port()).send(get("/page?age=60&held")).close();
  REQUIRE(proxy.metric_becomes(
      R"(spillway_requests_total{route="page",class="P1",outcome="client_gone"})", 1));
  origin.go.set();
  CHECK(first.read_response().status() == 200);
}

TEST_CASE(
    "clients that lead in a hurry, read nothing and leave keep an honest one waiting shortly") {
  constexpr int kChain = 24;
  constexpr Milliseconds kHurry{15};
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (!request->field("X-Honest")) {
        proxy.wait_closed();
        return;
      }
      if (!proxy.send(ok("honest", "Cache-Control: max-age=60\r\n"))) return;
    }
  });
  const ProxyUnderTest proxy(fresh(peer.address(), 1));
  std::vector<RawClient> chain;
  for (int n = 0; n < kChain; ++n) {
    RawClient& next = chain.emplace_back(proxy.port(), 4096);
    next.send(get("/page?age=60", "X-Request-Deadline: 15ms\r\n"));
    if (n % 2 == 1) next.close();
  }
  RawClient honest(proxy.port());
  const auto began = std::chrono::steady_clock::now();
  CHECK(honest.ask(get("/page?age=60", "X-Honest: 1\r\n")).body == "honest");
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(took < kChain * kHurry + Milliseconds{kSanitized ? 4000 : 1500});
  CHECK(RawClient(proxy.port()).ask(get("/page?age=60")).body == "honest");  // and it is stored
}

TEST_CASE("an answer that may not be stored sends everybody to the upstream") {
  Origin origin;
  const ProxyUnderTest proxy(fresh(origin.peer.address()));
  std::vector<RawClient> clients = crowd(proxy, 20, "/page?held&secret");
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  origin.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
  CHECK(origin.peer.seen().requests == 20);
}

TEST_CASE("refreshes keep to the slots that there are") {
  CountingBackend backend({.slots = 1000, .service = Milliseconds{20}});
  json settings =
      overloadable(backend.address(),
                   {{"more_routes",
                     {cached_route("page", {{"strategy", "degrade"}, {"mode", "stale_ok"}},
                                   cache({{"ttl_ms", 1}, {"stale_ms", 3'600'000}}))}},
                    {"dispatch", {{"concurrency", 4}}}},
                   {{"queue_ratio", 0.3}}, {{"queue_ratio", 0.0}});
  settings["workers"] = 2;
  const ProxyUnderTest proxy(settings);
  RawClient client(proxy.port());
  constexpr int kPages = 60;
  const auto page = [](int n) { return get("/page/" + std::to_string(n)); };
  for (int n = 0; n < kPages; ++n) REQUIRE(client.ask(page(n)).status() == 200);
  // Twelve at once for a while, of which four run and eight of one class wait.
  std::string many;
  for (int n = 0; n < 40; ++n) many += get("/p2");
  std::vector<RawClient> others;
  for (int n = 0; n < 12; ++n) others.emplace_back(proxy.port()).send(many);
  REQUIRE(proxy.state_becomes([](const auto& state) { return state_is(state, "OVERLOADED"); }));
  others.clear();
  REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  for (int round = 0; round < 5; ++round) {
    std::vector<RawClient> readers;
    for (int n = 0; n < kPages; ++n) readers.emplace_back(proxy.port()).send(page(n));
    for (RawClient& reader : readers) {
      const Message answer = reader.read_response();
      CHECK(answer.status() == 200);
      CHECK(answer.field("Spillway-Degraded"));
    }
  }
  CHECK(proxy.state_becomes(
      [](const auto& state) { return state["caches"][0]["refreshes"]["stored"] >= 4; }));
  CHECK(proxy.metric(refreshes("page", "no_room")) > 0);
  CHECK(backend.seen().most_in_progress <= 4);
}

TEST_CASE("followers of a refused leader are not kept waiting after it") {
  Origin origin;
  json settings = fresh(origin.peer.address(), 1);
  settings["dispatch"]["concurrency"] = 1;
  settings["classes"] = patient_classes(8, 150);
  const ProxyUnderTest proxy(settings);
  RawClient holder(proxy.port());
  holder.send(get("/p1?held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  const auto began = std::chrono::steady_clock::now();
  std::vector<RawClient> clients = crowd(proxy, 30, "/page?age=60");
  for (RawClient& client : clients) CHECK(client.read_response().status() == 503);
  // One after the other they would take 30 x 150 ms.
  CHECK(std::chrono::steady_clock::now() - began < Milliseconds{kSanitized ? 4000 : 1500});
  origin.go.set();
  CHECK(holder.read_response().status() == 200);
}

TEST_CASE("a slow answer without a lifetime of its own is shared all the same") {
  Origin origin;
  json settings = overloadable(
      origin.peer.address(),
      {{"more_routes",
        {cached_route("page", json::object(), cache({{"serve", "fresh"}, {"ttl_ms", 60'000}}))}}});
  const ProxyUnderTest proxy(settings);
  std::vector<RawClient> clients = crowd(proxy, 20, "/page?held");
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  origin.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().body == "1");
  CHECK(origin.answers == 1);
}

TEST_CASE("a request with a stored response does not become a follower") {
  Origin origin;
  json page = cached_route("page", {{"strategy", "degrade"}, {"mode", "stale_ok"}},
                           cache({{"serve", "fresh"}}));
  const ProxyUnderTest proxy(overloadable(origin.peer.address(), {{"more_routes", {page}}}));
  RawClient client(proxy.port());
  origin.go.set();
  CHECK(client.ask(get("/page?old")).body == "1");
  overload_by_errors(client);
  for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/page?old")).status() == 200);
  CHECK(proxy.state_becomes(
      [](const auto& state) { return state["caches"][0]["refreshes"]["stored"] >= 1; }));
}
