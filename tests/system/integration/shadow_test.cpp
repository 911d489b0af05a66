// Shadow mode: no request is refused, delayed or degraded; what would have happened is counted.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "system/integration/access_line.hpp"
#include "system/integration/overloaded.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

json shadow(json changes) {
  changes["overload"]["mode"] = "shadow";
  return changes;
}

std::string shadowed(const char* traffic_class, const char* outcome, const char* reason) {
  return std::string(R"(spillway_shadow_total{class=")") + traffic_class + R"(",outcome=")" +
         outcome + R"(",reason=")" + reason + "\"}";
}

std::string queue_depth(const char* traffic_class) {
  return std::string(R"(spillway_queue_depth{upstream="app",class=")") + traffic_class + "\"}";
}

const char* const kInflight = R"(spillway_inflight{upstream="app"})";

// Every request from here on is decided as overloaded with ERROR_BURST.
void overload_in_shadow(const ProxyUnderTest& proxy, RawClient& client) {
  const Deadline deadline;
  while (proxy.metric(shadowed("P2", "denied", "ERROR_BURST")) == 0) {
    REQUIRE(!deadline.passed());
    CHECK(client.ask(failing("/probe")).status() == 500);
    CHECK(client.ask(get("/probe")).status() == 200);
  }
}

// One slot, held, and queues for two of each class.
struct Held {
  explicit Held(int max_wait_ms = 3'600'000, const json& changes = json::object())
      : proxy(overloadable(backend.peer.address(), merged(max_wait_ms, changes))),
        holder(proxy.port()) {
    holder.send(get("/p0/held"));
    REQUIRE(backend.holds(1));
  }

  static json merged(int max_wait_ms, const json& changes) {
    json all =
        shadow({{"dispatch", {{"concurrency", 1}}}, {"classes", patient_classes(2, max_wait_ms)}});
    all.merge_patch(changes);
    return all;
  }

  // So many clients of a class, whose requests have all arrived at the backend.
  std::vector<RawClient> asking(const std::string& target, std::size_t count) {
    const std::size_t before = backend.peer.seen().requests;
    std::vector<RawClient> clients;
    for (std::size_t n = 0; n < count; ++n) clients.emplace_back(proxy.port()).send(get(target));
    REQUIRE(backend.holds(before + count));
    return clients;
  }

  // Nothing is left behind, and the gate works as before.
  void check_empty() {
    for (const char* name : {"P0", "P1", "P2"}) CHECK(proxy.metric_becomes(queue_depth(name), 0));
    CHECK(proxy.metric_becomes(kInflight, 0));
    RawClient later(proxy.port());
    for (int n = 0; n < 5; ++n) CHECK(later.ask(get("/p1")).status() == 200);
    CHECK(proxy.metric_becomes(kInflight, 0));
  }

  Backend backend;
  ProxyUnderTest proxy;
  RawClient holder;
};

}  // namespace

TEST_CASE("in shadow mode rules that refuse everything refuse no request and are counted") {
  Backend backend;
  const ProxyUnderTest proxy(overloadable(
      backend.peer.address(),
      shadow({{"overload",
               {{"rules",
                 {{"P0", {{"strategy", "deny"}, {"probability", 1}}},
                  {"P1", {{"strategy", "drop"}, {"probability", 1}}},
                  {"P2", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}}}}}},
              {"more_routes",
               {route("poor", "P2",
                      {{"strategy", "allow"}, {"budget", {{"rate", 0.001}, {"burst", 1}}}})}}})));
  RawClient client(proxy.port());
  overload_in_shadow(proxy, client);
  const double denied = proxy.metric(shadowed("P0", "denied", "ERROR_BURST"));
  for (const char* target : {"/p0", "/p1", "/p2", "/poor"}) {
    for (int n = 0; n < 4; ++n) {
      const Message answer = client.ask(get(target));
      CHECK(answer.status() == 200);
      CHECK(answer.body == target);
      CHECK_FALSE(answer.field("Spillway-Degraded"));
      CHECK_FALSE(answer.field("Retry-After"));
    }
    CHECK(backend.head_of(target).find("Spillway-Degrade") == std::string::npos);
  }
  CHECK(proxy.metric_becomes(shadowed("P2", "denied", "BUDGET_EXCEEDED"), 3));
  CHECK(proxy.metric(shadowed("P0", "denied", "ERROR_BURST")) == denied + 4);
  CHECK(proxy.metric(shadowed("P1", "dropped", "ERROR_BURST")) == 4);
  CHECK(proxy.metric(shadowed("P2", "degraded", "ERROR_BURST")) == 4);

  const json classes = proxy.state()["upstreams"][0]["classes"];
  for (const json& one : classes) {
    CHECK(one["denied"] == 0);
    CHECK(one["dropped"] == 0);
    CHECK(one["degraded"] == 0);
  }
  CHECK(proxy.metric(R"(spillway_denied_total{class="P0",reason="ERROR_BURST"})") == 0);
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="p1",class="P1",outcome="forwarded"})", 4));
  CHECK(proxy.state()["upstreams"][0]["mode"] == "shadow");
}

TEST_CASE("in shadow mode no request waits for a slot and the queue is as long as it would be") {
  Held held;
  // Well beyond the connections that a backend of one slot is given otherwise.
  std::vector<RawClient> clients = held.asking("/p1/held", 12);
  CHECK(held.proxy.metric_becomes(queue_depth("P1"), 2));
  CHECK(held.proxy.metric(kInflight) == 1);
  held.backend.go.set();
  for (RawClient& client : clients) {
    const Message answer = client.read_response();
    CHECK(answer.status() == 200);
    CHECK_FALSE(answer.field("Server-Timing"));
  }
  CHECK(held.holder.read_response().status() == 200);
  CHECK(held.proxy.metric_becomes(shadowed("P1", "denied", "QUEUE_FULL"), 10));
  CHECK(held.proxy.metric(R"(spillway_denied_total{class="P1",reason="QUEUE_FULL"})") == 0);
  held.check_empty();
}

TEST_CASE("in shadow mode a ghost keeps its queue place when its request has been answered") {
  Held held;
  std::vector<RawClient> clients = held.asking("/p1/held", 2);
  // The slot is held for a second, so that this is what is learned.
  REQUIRE(held.proxy.state_becomes([](const json& state) {
    return state["upstreams"][0]["classes"][1]["oldest_wait_ms"] > 1000;
  }));
  held.backend.go.set();
  for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
  CHECK(held.holder.read_response().status() == 200);
  // The first has the slot, the second waits for it.
  CHECK(held.proxy.metric(queue_depth("P1")) >= 1);
  held.check_empty();
}

TEST_CASE("in enforce mode the same crowd waits and is refused") {
  Held held(3'600'000, {{"overload", {{"mode", "enforce"}}}});
  std::vector<RawClient> waiting;
  for (int n = 1; n <= 2; ++n) {
    waiting.emplace_back(held.proxy.port()).send(get("/p1/held"));
    REQUIRE(held.proxy.metric_becomes(queue_depth("P1"), n));
  }
  RawClient refused(held.proxy.port());
  CHECK(refused.ask(get("/p1/held")).status() == 503);
  CHECK(held.backend.peer.seen().requests == 1);
  held.backend.go.set();
  for (RawClient& client : waiting) CHECK(client.read_response().status() == 200);
  CHECK(held.proxy.metric_becomes(R"(spillway_denied_total{class="P1",reason="QUEUE_FULL"})", 1));
}

TEST_CASE("in shadow mode a client that leaves takes its ghost out of the queue") {
  Held held;
  std::vector<RawClient> clients = held.asking("/p1/held", 2);
  CHECK(held.proxy.metric_becomes(queue_depth("P1"), 2));
  clients.back().close();
  CHECK(held.proxy.metric_becomes(queue_depth("P1"), 1));
  held.backend.go.set();
  CHECK(clients.front().read_response().status() == 200);
  CHECK(held.proxy.metric_becomes(
      R"(spillway_requests_total{route="p1",class="P1",outcome="client_gone"})", 1));
  held.check_empty();
}

TEST_CASE("in shadow mode a request that would wait in vain or be evicted is served and counted") {
  SUBCASE("waited in vain") {
    Held held(30, {{"dispatch", {{"expire_policy", "dead_letter"}}}});
    std::vector<RawClient> clients = held.asking("/p1/held", 2);
    CHECK(held.proxy.state_becomes(
        [](const json& state) { return state["upstreams"][0]["classes"][1]["timed_out"] == 2; }));
    CHECK(held.proxy.metric_becomes(queue_depth("P1"), 0));
    held.backend.go.set();
    for (RawClient& client : clients) CHECK(client.read_response().status() == 200);
    CHECK(held.proxy.metric_becomes(shadowed("P1", "expired", "QUEUE_TIMEOUT"), 2));
    CHECK(held.proxy.metric(
              R"(spillway_requests_total{route="p1",class="P1",outcome="forwarded"})") == 2);
    // They were answered: nothing of them is lost.
    CHECK(held.proxy.state()["upstreams"][0]["dead_letters"]["total"] == 0);
    held.check_empty();
  }
  SUBCASE("evicted") {
    Held held;
    std::vector<RawClient> low = held.asking("/p2/held", 2);
    std::vector<RawClient> high = held.asking("/p0/held", 3);
    CHECK(held.proxy.metric_becomes(queue_depth("P0"), 3));
    CHECK(held.proxy.metric_becomes(queue_depth("P2"), 1));
    held.backend.go.set();
    for (RawClient& client : low) CHECK(client.read_response().status() == 200);
    for (RawClient& client : high) CHECK(client.read_response().status() == 200);
    CHECK(held.proxy.metric_becomes(shadowed("P2", "evicted", "EVICTED"), 1));
    held.check_empty();
  }
}

TEST_CASE("in shadow mode a refusal in whose place a response is at hand counts as degraded") {
  json kept = route("kept", "P1", {{"strategy", "degrade"}, {"mode", "stale_ok"}});
  kept["match"]["path"] = "/kept/**";
  kept["cache"] = {{"max_bytes", 1 << 20}};
  const char* const degraded = "degraded";
  SUBCASE("prepared") {
    kept["fallback"] = {{"status", 203}, {"json", {{"body", "{}"}}}};
    Held held(3'600'000, {{"more_routes", {kept}}});
    const std::vector<RawClient> queued = held.asking("/p1/held", 2);
    std::vector<RawClient> refused = held.asking("/p1/held", 3);
    std::vector<RawClient> spared = held.asking("/kept/held", 4);
    held.backend.go.set();
    for (RawClient& client : refused) CHECK(client.read_response().status() == 200);
    for (RawClient& client : spared) CHECK(client.read_response().status() == 200);
    CHECK(held.proxy.metric_becomes(shadowed("P1", degraded, "QUEUE_FULL"), 4));
    CHECK(held.proxy.metric_becomes(shadowed("P1", "denied", "QUEUE_FULL"), 3));
  }
  SUBCASE("stored") {
    Held held(3'600'000, {{"more_routes", {kept}}});
    RawClient client(held.proxy.port());
    CHECK(client.ask(get("/kept/a")).body == "/kept/a");  // its ghost waits on
    const std::vector<RawClient> queued = held.asking("/p1/held", 1);
    CHECK(client.ask(get("/kept/a")).body == "/kept/a");
    CHECK(held.proxy.metric_becomes(shadowed("P1", degraded, "QUEUE_FULL"), 1));
    CHECK(client.ask(get("/kept/b")).body == "/kept/b");
    CHECK(held.proxy.metric_becomes(shadowed("P1", "denied", "QUEUE_FULL"), 1));
    CHECK(held.proxy.metric(shadowed("P1", degraded, "QUEUE_FULL")) == 1);
    held.backend.go.set();
  }
}

TEST_CASE("in shadow mode no request is tagged late") {
  Backend backend;
  json soon = route("held-soon", "P1");
  soon["deadline_ms"] = 30;
  const ProxyUnderTest proxy(
      overloadable(backend.peer.address(),
                   shadow({{"dispatch", {{"concurrency", 1}, {"late", "process_with_tag"}}},
                           {"more_routes", {soon}}})));
  RawClient late(proxy.port()), holder(proxy.port());
  overload_in_shadow(proxy, late);
  const std::size_t before = backend.peer.seen().requests;
  holder.send(get("/p0/held"));
  REQUIRE(backend.holds(before + 1));
  late.send(get("/held-soon"));
  REQUIRE(backend.holds(before + 2));
  REQUIRE(proxy.state_becomes([](const json& state) {
    return state["upstreams"][0]["classes"][1]["oldest_wait_ms"] > 30;
  }));
  holder.close();  // its slot goes to the ghost, late
  REQUIRE(proxy.state_becomes(
      [](const json& state) { return state["upstreams"][0]["classes"][1]["missed"] == 1; }));
  backend.go.set();
  CHECK(late.read_response().status() == 200);
  CHECK(late.ask(get("/probe?next")).status() == 200);  // which does not get as far as the gate
  for (const char* target : {"/held-soon", "/probe?next"})
    CHECK(backend.head_of(target).find("Spillway-Late") == std::string::npos);
  CHECK(backend.head_of("/probe?next") != "");
}

TEST_CASE("in shadow mode the log tells what would have happened though no request is sampled") {
  Backend backend;
  ProxyProcess proxy(
      overloadable(backend.peer.address(),
                   shadow({{"dispatch", {{"concurrency", 1}}}, {"classes", patient_classes(1)}})));
  RawClient holder(proxy.port()), queued(proxy.port()), refused(proxy.port());
  holder.send(get("/p0/held"));
  REQUIRE(backend.holds(1));
  queued.send(get("/p1/held"));
  REQUIRE(backend.holds(2));
  CHECK(refused.ask(get("/p1/spared", "X-Request-Id: spared-1\r\n")).status() == 200);
  backend.go.set();
  CHECK(holder.read_response().status() == 200);
  CHECK(queued.read_response().status() == 200);

  const json line = access_line(proxy, "spared-1");
  CHECK(line["event"] == "access");
  CHECK(line["shadow"] == "denied");
  CHECK(line["outcome"] == "forwarded");
  CHECK(line["status"] == 200);
  CHECK(line["reason"] == "");
  CHECK(line["decision"]["reason"] == "QUEUE_FULL");
  CHECK(line["decision"]["limit"] == 1);
  CHECK(proxy.process().err().find("/p0/held") ==
        std::string::npos);  // nothing would have happened to it
}

}  // namespace spillway
