// What the operator takes out of the stores, and what is told of them.
#include <doctest/doctest.h>

#include <string>

#include "system/integration/origin.hpp"

using namespace spillway::support;
using nlohmann::json;

namespace {

json two_caches(const std::string& server) {
  const json always = cache({{"serve", "fresh"}});
  return overloadable(server, {{"more_routes",
                                {cached_route("page", json::object(), always),
                                 cached_route("list", json::object(), always)}}});
}

Message purge(const ProxyUnderTest& proxy, const json& what,
              std::string_view type = "application/json") {
  const std::string body = what.dump();
  return RawClient(proxy.admin_port())
      .ask("POST /cache/purge HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + std::string(type) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

json purged(int count) { return {{"purged", count}}; }

}  // namespace

TEST_CASE("a purge ends stored answers by key and by prefix and by route") {
  Origin origin;
  const ProxyUnderTest proxy(two_caches(origin.peer.address()));
  RawClient client(proxy.port());
  const auto fill = [&] {
    for (const char* target : {"/page/a?age=60", "/page/b?age=60", "/list/a?age=60"})
      CHECK(client.ask(get(target)).status() == 200);
  };
  const auto is_stored = [&](const char* target) {
    return field(client.ask(get(target)), "Cache-Status").find("; hit") != std::string::npos;
  };
  fill();
  CHECK(json::parse(purge(proxy, {{"key", "/page/a?age=60"}}).body) == purged(1));
  CHECK_FALSE(is_stored("/page/a?age=60"));
  CHECK(is_stored("/page/a?age=60"));
  CHECK(is_stored("/page/b?age=60"));
  CHECK(json::parse(purge(proxy, {{"prefix", "/page/"}}).body) == purged(2));
  CHECK_FALSE(is_stored("/page/b?age=60"));
  CHECK(is_stored("/list/a?age=60"));
  CHECK(json::parse(purge(proxy, {{"key", "http://elsewhere/list/a?age=60"}}).body) == purged(0));
  CHECK(json::parse(purge(proxy, {{"route", "list"}}).body) == purged(1));
  CHECK_FALSE(is_stored("/list/a?age=60"));
  CHECK(purge(proxy, {{"route", "nowhere"}}).status() == 404);
  CHECK(purge(proxy, {{"route", "p1"}}).status() == 404);
  CHECK(purge(proxy, {{"route", "list"}}, "text/plain").status() == 415);
  CHECK(is_stored("/list/a?age=60"));
}

TEST_CASE("an answer asked for before a purge is not stored after it") {
  Origin origin;
  const ProxyUnderTest proxy(two_caches(origin.peer.address()));
  RawClient client(proxy.port());
  client.send(get("/page?age=60&held"));
  REQUIRE(origin.peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  CHECK(purge(proxy, {{"prefix", "/page"}}).status() == 200);
  origin.go.set();
  CHECK(client.read_response().body == "1");
  CHECK(client.ask(get("/page?age=60&held")).body == "2");
  CHECK(client.ask(get("/page?age=60&held")).body == "2");
}

TEST_CASE("the state page shows what each cache holds and does") {
  Origin origin;
  const ProxyUnderTest proxy(two_caches(origin.peer.address()));
  RawClient client(proxy.port());
  for (int n = 0; n < 4; ++n) CHECK(client.ask(get("/page?age=60")).body == "1");
  CHECK(client.ask(post("/page?age=60", "x")).status() == 200);
  // A request is counted when its answer has gone out.
  REQUIRE(proxy.state_becomes(
      [](const json& state) { return state.at("caches").at(0).at("lookups").at("bypass") == 1; }));
  const json caches = proxy.state().at("caches");
  REQUIRE(caches.size() == 2);
  const json& page = caches[0];
  CHECK(page.at("route") == "page");
  CHECK(page.at("stores") == 1);
  CHECK(page.at("invalidations") == 1);
  CHECK(page.at("max_bytes") == 1 << 20);
  CHECK(page.at("bytes") <= 1 << 20);
  CHECK(page.at("lookups").at("fresh") == 3);
  CHECK(page.at("lookups").at("miss") == 1);
  CHECK(page.at("lookups").at("bypass") == 1);
  CHECK(page.at("hit_ratio") == doctest::Approx(0.75));
  CHECK(proxy.metric_becomes(R"(spillway_cache_stores_total{route="page"})", 1));
  CHECK(proxy.metric(R"(spillway_cache_entries{route="list"})") == 0);
}
