// What an overloaded upstream's rules do to single requests, and what everybody sees of it.
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

json with_rules(const json& rules) { return {{"overload", {{"rules", rules}}}}; }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a rule that skips the downstream tells backend and client and counts") {
  Backend backend;
  const ProxyUnderTest proxy(
      overloadable(backend.peer.address(),
                   with_rules({{"P1", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}}})));
  RawClient client(proxy.port());
  const Message before = client.ask(get("/p1/before"));
  CHECK_FALSE(before.field("Spillway-Degraded"));
  CHECK_FALSE(contains(backend.head_of("/p1/before"), "Spillway-Degrade"));

  overload_by_errors(client);
  const Message answer = client.ask(get("/p1/during"));
  CHECK(answer.status() == 200);
  CHECK(answer.body == "/p1/during");
  CHECK(answer.field("Spillway-Degraded") == "mode=skip_downstream; reason=ERROR_BURST");
  CHECK(contains(backend.head_of("/p1/during"), "\r\nSpillway-Degrade: skip-downstream\r\n"));
  CHECK(proxy.metric_becomes(R"(spillway_requests_total{route="p1",class="P1",outcome="degraded"})",
                             1));
  CHECK(proxy.metric_becomes(
      R"(spillway_degraded_total{class="P1",mode="skip_downstream",reason="ERROR_BURST"})", 1));
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="p1",class="P1",outcome="forwarded"})", 1));
  CHECK(proxy.state()["upstreams"][0]["classes"][1]["degraded"] == 1);

  // A class that is not degraded is answered plainly.
  CHECK_FALSE(client.ask(get("/p0")).field("Spillway-Degraded"));
  CHECK_FALSE(contains(backend.head_of("/p0"), "Spillway-Degrade"));
}

TEST_CASE("a client cannot have the backend leave something out") {
  Backend backend;
  const ProxyUnderTest proxy(
      overloadable(backend.peer.address(),
                   with_rules({{"P1", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}}})));
  RawClient client(proxy.port());
  const std::string claim = "spillway-degrade: everything\r\n";
  CHECK(client.ask(get("/p1/before", claim)).status() == 200);
  CHECK_FALSE(contains(backend.head_of("/p1/before"), "pillway-"));
  overload_by_errors(client);
  CHECK(client.ask(get("/p1/during", claim)).status() == 200);
  CHECK(contains(backend.head_of("/p1/during"), "Spillway-Degrade: skip-downstream\r\n"));
  CHECK_FALSE(contains(backend.head_of("/p1/during"), "everything"));
}

TEST_CASE("modes that need a stored answer do on a miss what the rule says") {
  Backend backend;
  const auto degraded = [](const char* name, json rule) {
    rule.update({{"strategy", "degrade"}, {"retry_after_ms", 3000}});
    json all = route(name, "P1", rule);
    all["cache"] = {{"max_bytes", 1 << 20}};  // with nothing in it
    return all;
  };
  const ProxyUnderTest proxy(overloadable(
      backend.peer.address(),
      {{"more_routes",
        {degraded("stale", {{"mode", "stale_ok"}}), degraded("cached", {{"mode", "cache_only"}}),
         degraded("stale-or-denied", {{"mode", "stale_ok"}, {"miss", "deny"}}),
         degraded("cached-or-not", {{"mode", "cache_only"}, {"miss", "forward"}})}}}));
  RawClient client(proxy.port());
  overload_by_errors(client);
  for (const char* forwarded : {"/stale", "/cached-or-not"}) {
    const Message answer = client.ask(get(forwarded));
    CHECK(answer.status() == 200);
    CHECK_FALSE(answer.field("Spillway-Degraded"));
    CHECK_FALSE(contains(backend.head_of(forwarded), "Spillway-Degrade"));
  }
  for (const char* denied : {"/cached", "/stale-or-denied"}) {
    const Message answer = client.ask(get(denied));
    check_refusal(answer, 503, "P1", "ERROR_BURST");
    const int retry_after = json::parse(answer.body).at("retry_after_ms");
    CHECK(retry_after >= 3000);
    CHECK(retry_after < 4500);
    CHECK(backend.head_of(denied) == "");
  }
}

TEST_CASE("a rule that drops closes without an answer and only while overloaded") {
  Backend backend;
  const ProxyUnderTest proxy(overloadable(
      backend.peer.address(), with_rules({{"P1", {{"strategy", "drop"}, {"probability", 1}}}})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/p1")).status() == 200);
  overload_by_errors(client);
  RawClient dropped(proxy.port());
  CHECK(dropped.send(get("/p1/dropped")).read_to_end() == "");
  CHECK(backend.head_of("/p1/dropped") == "");
  CHECK(proxy.metric_becomes(R"(spillway_requests_total{route="p1",class="P1",outcome="dropped"})",
                             1));
}

TEST_CASE("a route changes single fields of its class's rule") {
  Backend backend;
  json changes =
      with_rules({{"P2", {{"strategy", "deny"}, {"probability", 1}, {"retry_after_ms", 2000}}}});
  changes["more_routes"] = {
      route("never", "P2", {{"probability", 0}}),
      route("later", "P2", {{"retry_after_ms", 60'000}}),
      route("plainer", "P2", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}),
      route("always", "P2", {{"strategy", "allow"}})};
  const ProxyUnderTest proxy(overloadable(backend.peer.address(), changes));
  RawClient client(proxy.port());
  overload_by_errors(client);
  const auto retry_after = [&](const char* target) -> int {
    const Message refusal = client.ask(get(target));
    check_refusal(refusal, 503, "P2", "ERROR_BURST");
    return json::parse(refusal.body).at("retry_after_ms");
  };
  constexpr int kTurns = 500;  // booked before (returns), where little is known of the capacity
  for (int n = 0; n < 5; ++n) {
    const int usual = retry_after("/p2"), later = retry_after("/later");
    CHECK(usual >= 2000);
    CHECK(usual < 3000 + kTurns);
    CHECK(later >= 60'000);
    CHECK(later < 90'000 + kTurns);
    CHECK(client.ask(get("/never")).status() == 200);
    CHECK(client.ask(get("/always")).status() == 200);
  }
  CHECK(client.ask(get("/plainer")).field("Spillway-Degraded"));
}

TEST_CASE(
    "for lack of room a rule refuses no request while there is room or none of the class waits") {
  Backend backend;
  const ProxyUnderTest proxy(Crowd::settings(
      backend.peer.address(), with_rules({{"P0", {{"strategy", "drop"}, {"probability", 1}}},
                                          {"P1", {{"strategy", "deny"}, {"probability", 1}}}})));
  Crowd crowd(backend, proxy);
  RawClient denied(proxy.port()), dropped(proxy.port()), first(proxy.port()), top(proxy.port());
  first.send(get("/p1/first"));
  top.send(get("/p0/first"));
  for (const char* name : {"P0", "P1"}) {
    REQUIRE(proxy.metric_becomes(
        std::string(R"(spillway_queue_depth{upstream="app",class=")") + name + "\"}", 1));
  }
  check_refusal(denied.ask(get("/p1/second")), 503, "P1", "QUEUE_SATURATION");
  CHECK(dropped.send(get("/p0/second")).read_to_end() == "");

  crowd.disperse();
  CHECK(first.read_response().status() == 200);
  CHECK(top.read_response().status() == 200);
  for (const char* refused : {"/p1/second", "/p0/second"}) CHECK(backend.head_of(refused) == "");
  // Still overloaded, but there is room.
  for (int n = 0; n < 5; ++n) CHECK(denied.ask(get("/p1")).status() == 200);
  CHECK(state_is(proxy.state(), "OVERLOADED"));
}

}  // namespace spillway
