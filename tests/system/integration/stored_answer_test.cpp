// What is stored is given while the upstream is overloaded, or does not answer as it should.
#include <doctest/doctest.h>

#include <string>

#include "system/integration/origin.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json degrade(const char* mode, json more = json::object()) {
  more.update({{"strategy", "degrade"}, {"mode", mode}});
  return more;
}

json with_routes(json routes) { return {{"more_routes", std::move(routes)}}; }

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

TEST_CASE("normal operation stores and does not answer from the store") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", degrade("stale_ok"))})));
  RawClient client(proxy.port());
  for (const char* body : {"1", "2"}) {
    const Message answer = client.ask(get("/page?old"));
    CHECK(answer.body == body);
    CHECK(field(answer, "Cache-Status") == "spillway; fwd=bypass; stored");
    CHECK_FALSE(answer.field("Spillway-Degraded"));
  }
  CHECK(proxy.metric_becomes(lookups("page", "bypass"), 2));
}

TEST_CASE("stale_ok answers at once with what is stored and has it refreshed once") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", degrade("stale_ok"))})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?old")).body == "1");
  overload_by_errors(client);
  const Message answer = client.ask(get("/page?old"));
  CHECK(answer.status() == 200);
  CHECK(answer.body == "1");
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=ERROR_BURST");
  CHECK(starts_with(field(answer, "Cache-Status"), "spillway; hit; ttl=-1"));
  CHECK(std::stoi(field(answer, "Age")) >= 20);
  CHECK(origin.answered(2));
  REQUIRE(proxy.metric_becomes(refreshes("page", "stored"), 1));
  CHECK(client.ask(get("/page?old")).body == "2");
  CHECK(proxy.metric_becomes(lookups("page", "stale"), 2));
  CHECK(proxy.metric_becomes(
      R"(spillway_degraded_total{class="P1",mode="stale_ok",reason="ERROR_BURST"})", 2));
  // No client asked for the refresh, so it is none of the requests.
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="page",class="P1",outcome="forwarded"})", 1));
}

TEST_CASE("what is fresh is not refreshed and a refresh asks only whether it has changed") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", degrade("stale_ok"))})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?age=60")).body == "1");
  CHECK(client.ask(get("/page?old&etag")).body == "2");
  overload_by_errors(client);
  const Message fresh = client.ask(get("/page?age=60"));
  CHECK(fresh.body == "1");
  CHECK(field(fresh, "Spillway-Degraded") == "mode=stale_ok; reason=ERROR_BURST");
  CHECK(client.ask(get("/page?old&etag")).body == "2");
  REQUIRE(proxy.metric_becomes(refreshes("page", "not_modified"), 1));
  CHECK(client.ask(get("/page?old&etag")).body == "2");
  CHECK(proxy.metric(lookups("page", "fresh")) == 1);
}

TEST_CASE("cache_only answers from the store or refuses, and asks no upstream") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", degrade("cache_only"))})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?old")).body == "1");
  overload_by_errors(client);
  const Message hit = client.ask(get("/page?old"));
  CHECK(hit.body == "1");
  CHECK(field(hit, "Spillway-Degraded") == "mode=cache_only; reason=ERROR_BURST");
  const Message miss = client.ask(get("/page/other"));
  check_refusal(miss, 503, "P1", "ERROR_BURST");
  CHECK(miss.body.find("only from what it has stored") != std::string::npos);
  CHECK(field(miss, "Cache-Status") == "spillway; detail=miss");
  CHECK(origin.answers == 1);
}

TEST_CASE("a client that wants a stored answer only gets one or 504") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", degrade("stale_ok"))})));
  RawClient client(proxy.port());
  const std::string only = "Cache-Control: only-if-cached\r\n";
  CHECK(client.ask(get("/page?age=60", only)).status() == 504);
  CHECK(client.ask(get("/page?age=60")).body == "1");
  CHECK(client.ask(get("/page?age=60", only)).body == "1");
  overload_by_errors(client);
  CHECK(client.ask(get("/page/other", only)).status() == 504);
  CHECK(origin.answers == 1);
}

TEST_CASE("a stored answer takes no slot and no place in the queue") {
  Backend backend;
  const json page = cached_route("page", degrade("stale_ok"), cache({{"ttl_ms", 1}}));
  const ProxyUnderTest proxy(Crowd::settings(backend.peer.address(), with_routes({page})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page")).status() == 200);
  Crowd crowd(backend, proxy, 1);
  const Message answer = client.ask(get("/page"));
  CHECK(answer.status() == 200);
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=QUEUE_SATURATION");
  CHECK(proxy.metric(refreshes("page", "no_room")) == 1);
  crowd.disperse();
}

TEST_CASE("in place of an upstream's failure what is stored is given") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(),
                   with_routes({cached_route("page"),
                                cached_route("plain", {}, cache({{"stale_if_error", false}}))})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?old")).body == "1");
  CHECK(client.ask(get("/plain?old")).body == "2");
  origin.broken = true;
  const Message answer = client.ask(get("/page?old"));
  CHECK(answer.status() == 200);
  CHECK(answer.body == "1");
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=UPSTREAM_UNAVAILABLE");
  CHECK(client.ask(get("/plain?old")).status() == 500);
  CHECK(client.ask(get("/page/other")).status() == 500);
}

TEST_CASE("an upstream that does not answer in time is stood in for as well") {
  Event go;
  const ScriptedPeer peer([&](PeerConnection& connection) {
    while (connection.read_request()) {
      if (connection.number() > 0 && !connection.wait(go)) return;
      connection.send(ok("first", "Connection: close\r\nCache-Control: max-age=10\r\nAge: 20\r\n"));
      return;
    }
  });
  json settings = overloadable(peer.address(), with_routes({cached_route("page")}));
  settings["upstreams"][0]["response_timeout_ms"] = 100;
  const ProxyUnderTest proxy(settings);
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page")).body == "first");
  const Message answer = client.ask(get("/page"));
  CHECK(answer.body == "first");
  CHECK(field(answer, "Spillway-Degraded") == "mode=stale_ok; reason=UPSTREAM_TIMEOUT");
  CHECK(client.ask(get("/page/other")).status() == 504);
}

TEST_CASE("a request that changes something ends what is stored for its target") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), with_routes({cached_route("page", {}, cache({{"serve", "fresh"}}))})));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/page?age=60")).body == "1");
  const Message hit = client.ask(get("/page?age=60"));
  CHECK(hit.body == "1");
  CHECK_FALSE(hit.field("Spillway-Degraded"));
  CHECK(client.ask(post("/page?age=60", "x")).body == "2");
  CHECK(client.ask(get("/page?age=60")).body == "3");
  CHECK(proxy.metric_becomes(R"(spillway_requests_total{route="page",class="P1",outcome="cached"})",
                             1));
}
