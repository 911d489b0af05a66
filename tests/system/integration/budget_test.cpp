// Budgets of an overloaded upstream's rules: what they let pass, and which requests give their
// token back.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_under_test.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/refusal.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// What is spent does not come back while a test runs.
json budget(int burst) { return {{"rate", 0.001}, {"burst", burst}}; }

json with_budget(int burst) {
  return {
      {"overload", {{"rules", {{"P1", {{"retry_after_ms", 700}, {"budget", budget(burst)}}}}}}}};
}

std::string queue_depth(const char* traffic_class) {
  return std::string(R"(spillway_queue_depth{upstream="app",class=")") + traffic_class + "\"}";
}

}  // namespace

TEST_CASE("a class passes as many requests as its budget holds and then gets 429") {
  Backend backend;
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), with_budget(3)));
  RawClient client(proxy.port());
  for (int n = 0; n < 5; ++n) REQUIRE(client.ask(get("/p1")).status() == 200);  // nothing is spent
  overload_by_errors(client);
  for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/p1")).status() == 200);
  for (int n = 0; n < 3; ++n) {
    const Message refusal = client.ask(get("/p1/poor"));
    check_refusal(refusal, 429, "P1", "BUDGET_EXCEEDED");
    const int retry_after = json::parse(refusal.body).at("retry_after_ms");
    CHECK(retry_after >= 700);
    CHECK(retry_after < 1050);
  }
  CHECK(backend.head_of("/p1/poor") == "");
  CHECK(client.ask(get("/p2")).status() == 200);
  CHECK(proxy.metric_becomes(R"(spillway_denied_total{class="P1",reason="BUDGET_EXCEEDED"})", 3));
  CHECK(proxy.metric_becomes(R"(spillway_requests_total{route="p1",class="P1",outcome="denied"})",
                             3));
}

TEST_CASE("a budget lasts through a denying rule and is not spent by whom that denies") {
  Backend backend;
  json changes = with_budget(2);
  changes["more_routes"] = {
      route("denied", "P1", {{"strategy", "deny"}, {"probability", 1}}),
      route("cheap", "P1", {{"strategy", "degrade"}, {"mode", "skip_downstream"}})};
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), changes));
  RawClient client(proxy.port());
  overload_by_errors(client);
  for (int n = 0; n < 3; ++n) check_refusal(client.ask(get("/denied")), 503, "P1", "ERROR_BURST");
  CHECK(client.ask(get("/cheap")).field("Spillway-Degraded"));
  CHECK(client.ask(get("/p1")).status() == 200);
  check_refusal(client.ask(get("/cheap")), 429, "P1", "BUDGET_EXCEEDED");
  check_refusal(client.ask(get("/p1")), 429, "P1", "BUDGET_EXCEEDED");
}

TEST_CASE("a route with a budget of its own does not spend that of its class") {
  Backend backend;
  json changes = with_budget(2);
  changes["more_routes"] = {route("own", "P1", {{"budget", budget(3)}})};
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), changes));
  RawClient client(proxy.port());
  overload_by_errors(client);
  for (int n = 0; n < 3; ++n) CHECK(client.ask(get("/own")).status() == 200);
  check_refusal(client.ask(get("/own")), 429, "P1", "BUDGET_EXCEEDED");
  for (int n = 0; n < 2; ++n) CHECK(client.ask(get("/p1")).status() == 200);
  check_refusal(client.ask(get("/p1")), 429, "P1", "BUDGET_EXCEEDED");
}

TEST_CASE("a request that the gate refuses or that leaves the queue costs no token") {
  Backend backend;
  json changes = with_budget(2);
  changes["dispatch"] = {{"concurrency", 1}};
  changes["classes"] = patient_classes(1);
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), changes));
  RawClient client(proxy.port()), holder(proxy.port());
  overload_by_errors(client);
  holder.send(get("/p0/held"));
  REQUIRE(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 1));

  SUBCASE("a full queue") {
    RawClient waiting(proxy.port());
    waiting.send(get("/p1"));
    REQUIRE(proxy.metric_becomes(queue_depth("P1"), 1));
    for (int n = 0; n < 3; ++n) check_refusal(client.ask(get("/p1")), 503, "P1", "QUEUE_FULL");
    backend.go.set();
    CHECK(waiting.read_response().status() == 200);
  }
  SUBCASE("clients that leave") {
    for (int n = 0; n < 3; ++n) {
      RawClient leaving(proxy.port());
      leaving.send(get("/p1"));
      REQUIRE(proxy.metric_becomes(queue_depth("P1"), 1));
      leaving.close();
      REQUIRE(proxy.metric_becomes(
          R"(spillway_requests_total{route="p1",class="P1",outcome="client_gone"})", n + 1));
    }
    backend.go.set();
    CHECK(holder.read_response().status() == 200);
    CHECK(client.ask(get("/p1")).status() == 200);
  }
  CHECK(client.ask(get("/p1")).status() == 200);
  check_refusal(client.ask(get("/p1")), 429, "P1", "BUDGET_EXCEEDED");
}

}  // namespace spillway
