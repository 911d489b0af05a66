// A route's prepared answer in place of the upstream's.
#include <doctest/doctest.h>

#include <string>

#include "system/integration/origin.hpp"
#include "system/integration/refusal.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json prepared_route(const std::string& name, const json& rule, int status = 203) {
  json all = route(name, "P1", rule);
  all["match"]["path"] = "/" + name + "/**";
  all["fallback"] = {{"status", status},
                     {"headers", {{"X-Reduced", "yes"}}},
                     {"json", {{"body", R"({"items":[]})"}}},
                     {"html", {{"body", "<p>nothing now</p>"}}}};
  return all;
}

json skip(json more = json::object()) {
  more.update({{"strategy", "degrade"}, {"mode", "skip_downstream"}});
  return more;
}

}  // namespace

TEST_CASE("skip_downstream gives the prepared answer in the form that the client prefers") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(), {{"more_routes", {prepared_route("list", skip())}}}));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/list")).body == "1");
  overload_by_errors(client);
  const Message answer = client.ask(get("/list"));
  CHECK(answer.status() == 203);
  CHECK(answer.body == R"({"items":[]})");
  CHECK(field(answer, "Content-Type") == "application/json");
  CHECK(field(answer, "X-Reduced") == "yes");
  CHECK(field(answer, "Vary") == "Accept");
  CHECK(field(answer, "Cache-Control") == "no-store");
  CHECK(field(answer, "Spillway-Degraded") == "mode=skip_downstream; reason=ERROR_BURST");
  CHECK(answer.field("Date"));
  const Message page = client.ask(get("/list", "Accept: text/html\r\n"));
  CHECK(page.body == "<p>nothing now</p>");
  CHECK(field(page, "Content-Type") == "text/html; charset=utf-8");
  CHECK(origin.answers == 1);
  CHECK(proxy.metric_becomes(
      R"(spillway_degraded_total{class="P1",mode="skip_downstream",reason="ERROR_BURST"})", 2));
}

TEST_CASE("a prepared answer leaves the connection in order whatever the request brought") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(), {{"more_routes", {prepared_route("list", skip(), 503)}}}));
  RawClient client(proxy.port());
  overload_by_errors(client);
  client.send("HEAD /list HTTP/1.1\r\nHost: h\r\n\r\n");
  const Message head = client.read_response(Expected::head_only);
  CHECK(head.status() == 503);
  CHECK(field(head, "Content-Length") == "12");
  CHECK(client.ask(post("/list", "some text")).status() == 503);
  CHECK(client.ask(get("/list")).status() == 503);
  client.send(
      "POST /list HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  const Message unasked = client.read_response();
  CHECK(unasked.status() == 503);
  CHECK(field(unasked, "Connection") == "close");
  RawClient big(proxy.port());
  big.send("POST /list HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n" +
           std::string(100'000, 'x'));
  CHECK(big.read_response().status() == 503);
  CHECK(big.read_to_end() == "");
  CHECK_FALSE(big.was_reset());
  CHECK(origin.answers == 0);
}

TEST_CASE("an unsafe request is not answered with a prepared success") {
  Origin origin;
  const ProxyUnderTest proxy(
      overloadable(origin.peer.address(), {{"more_routes", {prepared_route("list", skip())}}}));
  RawClient client(proxy.port());
  overload_by_errors(client);
  CHECK(client.ask(get("/list")).status() == 203);
  const Message done = client.ask(post("/list", "some text"));
  CHECK(done.status() == 200);
  CHECK(origin.answers == 1);
}

TEST_CASE("with annotate the upstream is told to leave out what is expensive") {
  Origin origin;
  const ProxyUnderTest proxy(overloadable(
      origin.peer.address(),
      {{"more_routes",
        {prepared_route("told", skip({{"annotate", true}})), route("plain", "P1", skip()),
         route("missing", "P1", skip({{"annotate", false}, {"miss", "deny"}}))}}}));
  RawClient client(proxy.port());
  overload_by_errors(client);
  for (const char* target : {"/told", "/plain"}) {
    const Message answer = client.ask(get(target));
    CHECK(answer.status() == 200);
    CHECK(field(answer, "Spillway-Degraded") == "mode=skip_downstream; reason=ERROR_BURST");
  }
  check_refusal(client.ask(get("/missing")), 503, "P1", "ERROR_BURST");
  for (const std::string& bytes : origin.peer.seen().received) {
    if (bytes.find("GET /told") != std::string::npos)
      CHECK(bytes.find("Spillway-Degrade: skip-downstream") != std::string::npos);
  }
}

TEST_CASE("a class's rule with a fallback on a miss refuses where the route has none") {
  Origin origin;
  json changes = {
      {"overload",
       {{"rules",
         {{"P1", {{"strategy", "degrade"}, {"mode", "cache_only"}, {"miss", "fallback"}}}}}}},
      {"more_routes", {prepared_route("list", json::object())}}};
  changes["more_routes"][0].erase("rules");
  const ProxyUnderTest proxy(overloadable(origin.peer.address(), changes));
  RawClient client(proxy.port());
  overload_by_errors(client);
  const Message answer = client.ask(get("/list"));
  CHECK(answer.status() == 203);
  CHECK(field(answer, "Spillway-Degraded") == "mode=cache_only; reason=ERROR_BURST");
  check_refusal(client.ask(get("/p1")), 503, "P1", "ERROR_BURST");
}
