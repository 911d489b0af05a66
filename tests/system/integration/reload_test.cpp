// A new configuration takes the place of the old one while the proxy serves.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// Answers each request with its name, once it may.
struct HeldPeer {
  explicit HeldPeer(std::string name)
      : peer([this, answer = ok(name)](PeerConnection& proxy) {
          while (proxy.read_request()) {
            const int now = ++running;
            for (int most = most_running; now > most;) {
              if (most_running.compare_exchange_weak(most, now)) break;
            }
            const bool goes = proxy.wait(go);
            --running;
            if (!goes) return;
            proxy.send(answer);
          }
        }) {}
  bool has(std::size_t requests) const {
    return peer.wait_until([&](const auto& seen) { return seen.requests == requests; });
  }

  Event go;
  std::atomic<int> running{0}, most_running{0};
  ScriptedPeer peer;
};

json to(const ScriptedPeer& peer, const json& changes = json::object()) {
  return configuration({peer.address()}, changes);
}

json slots(std::uint32_t concurrency) {
  return {{"dispatch", {{"concurrency", concurrency}}},
          {"classes", {{{"name", "P0"}, {"max_wait_ms", 20000}, {"sla_ms", 20000}}}}};
}

TEST_CASE("a reload is in effect for the next request of an open connection") {
  const ScriptedPeer one(ok("one"));
  const ScriptedPeer other(ok("other"));
  ProxyUnderTest proxy(to(one));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).body == "one");
  const Message answer = proxy.reload(to(other));
  CHECK(answer.status() == 200);
  CHECK(json::parse(answer.body) == json{{"reloaded", true}, {"generation", 2}});
  CHECK(client.ask(get("/")).body == "other");
  CHECK(proxy.admin("/config").body.find(other.address()) != std::string::npos);
  CHECK(proxy.metric_becomes(R"(spillway_config_reloads_total{result="success"})", 1));
}

TEST_CASE("a request keeps to the configuration that it began with") {
  HeldPeer one("one");
  const ScriptedPeer other(ok("other"));
  ProxyUnderTest proxy(to(one.peer));
  RawClient early(proxy.port());
  early.send(get("/"));
  REQUIRE(one.has(1));
  CHECK(proxy.reload(to(other)).status() == 200);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "other");
  CHECK(proxy.state().at("configuration").at("former_in_use") == 1);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));
  one.go.set();
  CHECK(early.read_response().body == "one");
  CHECK(early.ask(get("/")).body == "other");
  CHECK(proxy.state_becomes(
      [](const json& state) { return state.at("configuration").at("former_in_use") == 0; }));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("a bad file leaves everything as it was and says what is wrong") {
  const ScriptedPeer peer(ok("one"));
  ProxyUnderTest proxy(to(peer));
  const std::string before = proxy.admin("/config").body;
  const Message answer =
      proxy.reload(to(peer, {{"dispatch", {{"concurency", 3}}}, {"workers", -1}}));
  CHECK(answer.status() == 422);
  const json told = json::parse(answer.body);
  CHECK(told.at("generation") == 1);
  REQUIRE(told.at("problems").size() == 2);
  CHECK(told.dump().find("$.dispatch.concurency") != std::string::npos);
  CHECK(told.dump().find("$.workers") != std::string::npos);
  CHECK(proxy.admin("/config").body == before);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "one");
  CHECK(proxy.metric_becomes(R"(spillway_config_reloads_total{result="failure"})", 1));
  CHECK(proxy.state().at("configuration").at("problems").size() == 2);
  CHECK(proxy.reload(to(peer)).status() == 200);
  CHECK(proxy.state().at("configuration").at("problems").empty());
}

TEST_CASE("a reload that cannot resolve a server changes nothing") {
  const ScriptedPeer peer(ok("one"));
  ProxyUnderTest proxy(to(peer));
  const Message answer = proxy.reload(configuration({"no-such-host.invalid:80"}));
  CHECK(answer.status() == 422);
  CHECK(answer.body.find("no-such-host.invalid") != std::string::npos);
  CHECK(RawClient(proxy.port()).ask(get("/")).body == "one");
}

TEST_CASE("what is bound or sized at start takes a restart") {
  const ScriptedPeer peer(ok("one"));
  ProxyUnderTest proxy(to(peer));
  for (const json& change : {json{{"workers", 1}}, json{{"listen", {{"port", 1}}}},
                             json{{"admin", {{"token", "secret-token"}}}}}) {
    const Message answer = proxy.reload(to(peer, change));
    CHECK(answer.status() == 422);
    CHECK(answer.body.find("restart") != std::string::npos);
    CHECK(answer.body.find("secret") == std::string::npos);
  }
}

TEST_CASE("requests of both configurations together never hold more slots than there are") {
  HeldPeer peer("late");
  ProxyUnderTest proxy(to(peer.peer, slots(2)));
  std::vector<RawClient> clients;
  const auto arrive = [&] { clients.emplace_back(proxy.port()).send(get("/")); };
  const auto queued = [&](const json& state) {
    return state.at("upstreams")[0].at("dispatch").at("queued") == 1;
  };
  arrive();
  arrive();
  REQUIRE(peer.has(2));
  arrive();  // waits under the first configuration
  REQUIRE(proxy.state_becomes(queued));
  CHECK(proxy.reload(to(peer.peer, slots(2))).status() == 200);
  arrive();  // and one under the second
  REQUIRE(proxy.state_becomes(queued));
  CHECK(proxy.reload(to(peer.peer, slots(1))).status() == 200);
  arrive();  // and one under a third with fewer slots
  REQUIRE(proxy.state_becomes(queued));
  CHECK(peer.peer.seen().requests == 2);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 2));
  peer.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().body == "late");
  CHECK(peer.most_running == 2);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("no request is dropped while configurations replace one another") {
  const ScriptedPeer one(ok("one"));
  const ScriptedPeer other(ok("other"));
  ProxyUnderTest proxy(to(one));
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> answered{0}, wrong{0};
  std::vector<std::thread> clients;
  for (int n = 0; n < 8; ++n) {
    clients.emplace_back([&, n] {
      RawClient kept(proxy.port());
      while (!over) {
        RawClient fresh(proxy.port());
        RawClient& client = n % 2 == 0 ? kept : fresh;
        const std::string lines = n % 4 < 2 ? "" : "Content-Length: 4\r\n";
        const Message answer = client.ask(lines.empty() ? get("/") : post("/", "body"));
        const bool good =
            answer.status() == 200 && (answer.body == "one" || answer.body == "other");
        ++(good ? answered : wrong);
      }
    });
  }
  for (int n = 0; n < 40; ++n) {
    // Routes come and go, and so do classes.
    json settings = to(n % 2 == 0 ? other : one, {{"default_route", {{"class", "P0"}}}});
    if (n % 3 == 0)
      settings["routes"] = {{{"name", "all"}, {"match", {{"path", "/**"}}}, {"class", "P0"}}};
    CHECK(proxy.reload(settings).status() == 200);
  }
  over = true;
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  CHECK(answered > 40);
  CHECK(proxy.state_becomes(
      [](const json& state) { return state.at("configuration").at("former_in_use") == 0; }));
  CHECK(proxy.metric("spillway_requests_accepted_total") == static_cast<double>(answered));
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") == 0);
}

TEST_CASE("counters go on where they were") {
  const ScriptedPeer peer(ok("one"));
  const auto routes = [&](const std::string& name) {
    return to(peer, {{"default_route", {{"class", "P0"}}},
                     {"routes", {{{"name", name}, {"match", {{"path", "/a"}}}, {"class", "P0"}}}}});
  };
  const auto count = [](const std::string& route) {
    return R"(spillway_requests_total{route=")" + route + R"(",class="P0",outcome="forwarded"})";
  };
  ProxyUnderTest proxy(routes("a"));
  RawClient client(proxy.port());
  client.ask(get("/a"));
  client.ask(get("/"));
  CHECK(proxy.reload(routes("a")).status() == 200);
  client.ask(get("/a"));
  CHECK(proxy.metric_becomes(count("a"), 2));
  CHECK(proxy.metric_becomes(count("default"), 1));
  CHECK(proxy.metric_becomes(R"(spillway_queue_wait_seconds_count{class="P0"})", 3));
  CHECK(proxy.reload(routes("b")).status() == 200);
  client.ask(get("/a"));
  CHECK(proxy.metric_becomes(count("b"), 1));
  CHECK(proxy.metric(count("a")) == 0);
  CHECK(proxy.metric_becomes(R"(spillway_queue_wait_seconds_count{class="P0"})", 4));
  CHECK(proxy.metric_becomes(R"(spillway_started_total{class="P0"})", 4));
}

TEST_CASE("stored answers outlive a reload unless it changes for whom they are") {
  const ScriptedPeer peer(ok("one", "Cache-Control: max-age=60\r\n"));
  const auto caching = [&](const json& changes) {
    json settings =
        to(peer, {{"default_route",
                   {{"class", "P0"}, {"cache", {{"max_bytes", 1 << 20}, {"serve", "fresh"}}}}}});
    settings.merge_patch(changes);
    return settings;
  };
  ProxyUnderTest proxy(caching(json::object()));
  RawClient client(proxy.port());
  const auto asked = [&] {
    client.ask(get("/page"));
    return peer.seen().requests;
  };
  CHECK(asked() == 1);
  CHECK(proxy.reload(caching({{"dispatch", {{"concurrency", 3}}}})).status() == 200);
  CHECK(asked() == 1);
  CHECK(proxy.metric_becomes(R"(spillway_cache_stores_total{route="default"})", 1));
  CHECK(proxy.reload(caching({{"trusted_peers", {"127.0.0.1"}}})).status() == 200);
  CHECK(asked() == 2);
}

TEST_CASE("an open connection is believed as the new configuration says") {
  const ScriptedPeer peer(ok("one"));
  ProxyUnderTest proxy(to(peer));
  RawClient client(proxy.port());
  const std::string claim = get("/", "X-Forwarded-For: 192.0.2.7\r\n");
  client.ask(claim);
  CHECK(peer.seen().received[0].find("192.0.2.7") == std::string::npos);
  CHECK(proxy.reload(to(peer, {{"trusted_peers", {"127.0.0.1"}}})).status() == 200);
  client.ask(claim);
  CHECK(peer.seen().received.back().find("192.0.2.7, 127.0.0.1") != std::string::npos);
}

TEST_CASE("an overloaded upstream stays overloaded under the new rules") {
  HeldPeer peer("late");
  const auto settings = [&](double probability) {
    json all = to(peer.peer, slots(1));
    all["overload"] = {{"tick_ms", 10},
                       {"cooldown_ms", 600000},
                       {"enter", {{"queue_ratio", 0.5}}},
                       {"exit", {{"queue_ratio", 0.4}}},
                       {"rules", {{"P0", {{"strategy", "deny"}, {"probability", probability}}}}}};
    all["classes"][0]["max_queue"] = 2;
    return all;
  };
  ProxyUnderTest proxy(settings(0));
  std::vector<RawClient> clients;
  for (int n = 0; n < 3; ++n) clients.emplace_back(proxy.port()).send(get("/"));
  const auto overloaded = [](const json& state) {
    return state.at("upstreams")[0].at("state") == "OVERLOADED";
  };
  REQUIRE(proxy.state_becomes(overloaded));
  CHECK(proxy.reload(settings(1)).status() == 200);
  const json state = proxy.state();
  CHECK(overloaded(state));
  CHECK(state.at("upstreams")[0].at("reason") == "QUEUE_SATURATION");
  CHECK(state.at("upstreams")[0].at("classes")[0].at("rule").at("probability") == 1);
  peer.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
}

TEST_CASE("requests under very old configurations make room in the end") {
  const ScriptedPeer endless([](PeerConnection& proxy) {
    while (proxy.read_request()) {
      proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nand so on");
      proxy.wait_closed();
    }
  });
  const auto settings = [&](int drain_timeout) {
    return to(endless, {{"limits", {{"drain_timeout_ms", drain_timeout}}}});
  };
  ProxyUnderTest proxy(settings(60000));
  std::vector<RawClient> clients;
  const auto begin = [&] {
    clients.emplace_back(proxy.port()).send(get("/"));
    clients.back().read_head();
  };
  for (int n = 0; n < 16; ++n) {
    begin();
    REQUIRE(proxy.reload(settings(n == 15 ? 0 : 60000)).status() == 200);
  }
  begin();
  CHECK(proxy.reload(settings(60000)).status() == 200);
  CHECK(clients[0].read_to_end() == "and so on");
  begin();
  CHECK(proxy.reload(settings(60000)).status() == 422);
  CHECK_FALSE(clients[1].is_closed(Milliseconds{0}));
}

TEST_CASE("an open event stream outlives the requests that a reload ends to make room") {
  // Each request under an earlier configuration is held; the stream keeps to none of them.
  const ScriptedPeer endless([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const bool is_stream = request->target() == "/events";
      proxy.send(is_stream ? "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n"
                           : "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nand so on");
      proxy.wait_closed();
    }
  });
  const auto settings = [&](int drain_timeout) {
    return to(endless, {{"workers", 1}, {"limits", {{"drain_timeout_ms", drain_timeout}}}});
  };
  ProxyUnderTest proxy(settings(60000));
  RawClient stream(proxy.port());
  stream.send(get("/events"));
  CHECK(stream.read_head().status() == 200);
  CHECK(stream.read_bytes(11) == "6\r\nfirst\n\r\n");
  std::vector<RawClient> clients;
  for (int n = 0; n < 16; ++n) {
    clients.emplace_back(proxy.port()).send(get("/"));
    clients.back().read_head();
    REQUIRE(proxy.reload(settings(n == 15 ? 0 : 60000)).status() == 200);
  }
  CHECK(proxy.reload(settings(60000)).status() == 200);
  CHECK(clients[0].read_to_end() == "and so on");
  CHECK_FALSE(stream.is_closed(Milliseconds{0}));
}

TEST_CASE("a request that waited before a reload is not kept waiting by reserved slots") {
  HeldPeer peer("late");
  json settings = to(peer.peer, {{"dispatch", {{"concurrency", 2}}}});
  settings["classes"] = {
      {{"name", "gold"}, {"reserved", 1}, {"max_wait_ms", 20000}, {"sla_ms", 20000}},
      {{"name", "silver"}, {"max_wait_ms", 20000}, {"sla_ms", 20000}}};
  settings["default_route"] = {{"class", "silver"}};
  ProxyUnderTest proxy(settings);
  RawClient running(proxy.port());
  running.send(get("/"));
  REQUIRE(peer.has(1));
  RawClient waiting(proxy.port());
  waiting.send(get("/"));
  REQUIRE(proxy.state_becomes(
      [](const json& state) { return state.at("upstreams")[0].at("dispatch").at("queued") == 1; }));
  CHECK(proxy.reload(settings).status() == 200);
  peer.go.set();
  CHECK(running.read_response().status() == 200);
  CHECK(waiting.read_response().status() == 200);
}

TEST_CASE("only the operator has the configuration reloaded") {
  const ScriptedPeer peer(ok("one"));
  ProxyUnderTest proxy(to(peer));
  const auto ask = [&](const std::string& method, const std::string& lines) {
    return RawClient(proxy.admin_port())
        .ask(method + " /reload HTTP/1.1\r\nContent-Length: 0\r\n" + lines + "\r\n")
        .status();
  };
  CHECK(ask("GET", "Host: localhost\r\n") == 405);
  CHECK(ask("POST", "Host: localhost\r\nOrigin: http://evil.example\r\n") == 403);
  CHECK(ask("POST", "Host: evil.example\r\n") == 403);
  CHECK(proxy.state().at("configuration").at("generation") == 1);
}

}  // namespace
}  // namespace spillway
