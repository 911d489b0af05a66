// A route with a waiting room: visitors as browsers and programs are, with their cookies.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

TEST_CASE("while there is room visitors go on, with a pass that only they see") {
  Shop shop("Set-Cookie: cart=7\r\n");
  ProxyUnderTest proxy(shop.address(), selling(json::object()));
  Visitor visitor(proxy);
  const Message first = visitor.visit();
  CHECK(is_in(first));
  CHECK(find(first.fields, "Set-Cookie") == "cart=7");  // the shop's own goes on
  CHECK(count(first.fields, "Set-Cookie") == 2);
  const auto pass = first.fields.back();
  visitor.carry("");
  for (const auto& field : first.fields) {
    if (field.second.starts_with("spillway-sale=p"))
      visitor.carry(field.second.substr(0, field.second.find(';')));
  }
  REQUIRE_FALSE(visitor.jar().empty());
  CHECK(is_in(visitor.visit()));
  const auto requests = shop.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].field("Cookie") == "own=1; more=2");
  const std::string told = requests[1].field("Spillway-Pass").value_or("");
  CHECK(told.starts_with("room=sale; id="));
}

TEST_CASE("a full site gives places in the order of arrival, and calls when there is room") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  Visitor first(proxy);
  Visitor second(proxy);
  const Message page = first.visit();
  CHECK(page.status() == 503);
  CHECK(page.field("Content-Type") == "text/html; charset=utf-8");
  CHECK(page.field("Cache-Control") == "no-store");
  CHECK(page.field("X-Robots-Tag") == "noindex");
  CHECK(page.field("Retry-After"));
  CHECK(page.field("Content-Security-Policy").value_or("").starts_with("default-src 'none'"));
  CHECK(first.jar().starts_with("spillway-sale=s"));
  CHECK(second.visit().status() == 503);
  // The second comes back first: its place is behind all the same.
  second.poll();
  CHECK(second.jar().starts_with("spillway-sale=t"));
  first.poll();
  REQUIRE(first.is_called());
  CHECK(second.poll().value("state", "") == "waiting");
  CHECK(is_in(first.visit()));
  CHECK(first.jar().starts_with("spillway-sale=p"));
  CHECK(first.poll().value("state", "") == "fulfilled");
  CHECK(is_in(first.visit("/sale/other")));
  CHECK(second.visit().status() == 503);

  // The first leaves: the second is called.
  CHECK(first.ask("POST", "/_spillway/rooms/sale/leave", "Content-Length: 0\r\n").status() == 403);
  CHECK(
      first.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
          .status() == 204);
  REQUIRE(second.is_called());
  CHECK(is_in(second.visit()));
  CHECK(shop.requests().size() == 3);
}

TEST_CASE("refreshes and tabs are one ticket, and the page shows its place") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor before(proxy);
  CHECK(before.join().value("position", 0) == 1);
  Visitor visitor(proxy);
  CHECK(visitor.join().value("position", 0) == 2);
  Visitor tab(proxy);
  tab.carry(visitor.jar());
  CHECK(tab.poll().value("position", 0) == 2);
  for (int n = 0; n < 3; ++n) CHECK(visitor.visit().status() == 503);
  CHECK(visitor.poll()["id"] == tab.poll()["id"]);
  CHECK(proxy.metric(R"(spillway_waiting_room_joined_total{room="sale"})") == 3);
}

TEST_CASE("a crowd without cookies gets no ticket") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  for (int n = 0; n < 200; ++n) CHECK(Visitor(proxy).visit().status() == 503);
  CHECK(proxy.metric(R"(spillway_waiting_room_joined_total{room="sale"})") == 0);
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="waiting"})") == 0);
  CHECK(shop.requests().empty());
  CHECK(proxy.metric(R"(spillway_requests_total{route="sale",class="P1",outcome="waiting"})") ==
        200);
}

TEST_CASE("what is no visit makes no ticket and gets no page") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  const auto refused = [&](std::string_view method, std::string_view fields) {
    Visitor visitor(proxy);
    const Message answer = visitor.ask(method, "/sale/page", fields);
    CHECK(answer.status() == 503);
    CHECK_FALSE(answer.field("Set-Cookie"));
    CHECK(answer.field("Retry-After"));
    CHECK(answer.body.find("WAITING_ROOM") != std::string::npos);
  };
  refused("POST", "Accept: text/html\r\nContent-Length: 0\r\n");
  refused("GET", "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\nSec-Fetch-Site: none\r\n");
  refused("GET", "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n");
  refused("GET", kNavigation + "Sec-Purpose: prefetch;prerender\r\n");
  refused("GET", kNavigation + "Purpose: prefetch\r\n");
  Visitor head(proxy);
  head.client().send("HEAD /sale/page HTTP/1.1\r\nHost: a\r\n\r\n");
  const Message answer = head.client().read_response(Expected::head_only);
  CHECK(answer.status() == 503);
  CHECK_FALSE(answer.field("Set-Cookie"));
}

TEST_CASE("a HEAD passes by no waiting room of a route for GET") {
  Shop shop;
  json config = selling({{"active_sessions", 1}, {"when", "always"}});
  config["routes"][0]["match"]["methods"] = json::array({"GET"});
  ProxyUnderTest proxy(shop.address(), config);
  const auto ask = [&](const std::string& method) {
    RawClient client(proxy.port());
    client.send(method + " /sale/page HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    return client.read_response(Expected::head_only);
  };
  const Message head = ask("HEAD");
  CHECK(head.status() == 503);
  CHECK_FALSE(head.field("Set-Cookie"));
  CHECK(shop.requests().empty());
  CHECK(ask("POST").status() == 200);  // the control: another route's
}

TEST_CASE("a program is told its token in a field, and enters with it") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  RawClient program(proxy.port());
  std::string token;
  const auto ask = [&](std::string_view target) {
    const Message answer =
        program.ask(get(target, token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n"));
    token = answer.field("Spillway-Ticket").value_or(token);
    return answer;
  };
  const Message told = ask("/sale/page");
  CHECK(told.status() == 503);
  CHECK(told.field("Content-Type") == "application/problem+json");
  CHECK(told.field("Link") == "</_spillway/rooms/sale/ticket>; rel=\"status\"");
  const json problem = json::parse(told.body);
  CHECK(problem.value("detail", "").starts_with("Visitors wait to be let in"));
  CHECK(problem.value("request_id", "") == told.field("X-Request-Id").value_or("none"));
  CHECK(json::parse(program.ask(get("/_spillway/else")).body).at("detail") ==
        "There is nothing here.");
  CHECK(problem["reason"] == "WAITING_ROOM");
  CHECK(problem["status"] == 503);
  CHECK(problem["state"] == "arrived");
  const std::string id = json::parse(ask("/_spillway/rooms/sale/ticket").body).value("id", "");
  const Deadline deadline(kPatience);
  while (!deadline.passed()) {
    const Message looked = RawClient(proxy.port()).ask(get("/_spillway/rooms/sale/tickets/" + id));
    if (json::parse(looked.body).value("state", "") == "processing") break;
  }
  CHECK(is_in(ask("/sale/page")));
  CHECK(token.starts_with("p"));
  CHECK_FALSE(shop.requests().back().field("Spillway-Ticket"));
}

TEST_CASE("a path that may be another route's does not pass by the waiting room") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  for (const std::string path : {"/x/%2e%2e/sale/1", "/x/..%2fsale/1", "/sale%2f1", "/sale/../x"}) {
    CAPTURE(path);
    CHECK(Visitor(proxy).visit(path).status() == 400);
  }
  CHECK(is_in(Visitor(proxy).visit("/x/../y")));
  CHECK(shop.requests().size() == 1);
}

TEST_CASE("a stamp is asked for again within its life, whatever poll says") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(),
                       selling({{"active_sessions", 1},
                                {"when", "always"},
                                {"abandon_ms", 180'000},
                                {"poll", {{"min_ms", 60'000}, {"max_ms", 60'000}}}}));
  CHECK(Visitor(proxy).visit().field("Retry-After") == "20");
}

TEST_CASE("a response with a pass is for nobody else, whatever the upstream says") {
  Shop shop("Cache-Control: public, max-age=600\r\nCDN-Cache-Control: max-age=600\r\n");
  ProxyUnderTest proxy(shop.address(), selling(json::object()));
  Visitor visitor(proxy);
  const Message first = visitor.visit();
  REQUIRE(is_in(first));
  REQUIRE(visitor.jar().starts_with("spillway-sale=p"));
  CHECK(count(first.fields, "Cache-Control") == 1);
  CHECK(first.field("Cache-Control") == "private, no-cache");
  CHECK_FALSE(first.field("CDN-Cache-Control"));
  visitor.visit();  // the first pass becomes a session's
  CHECK(visitor.visit().field("Cache-Control") == "public, max-age=600");
}

TEST_CASE("a token that was made up, or changed, or of another waiting room, is none") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  Visitor visitor(proxy);
  visitor.visit();
  const std::string stamp = visitor.jar();
  for (const std::size_t at : {std::size_t{14}, std::size_t{15}, stamp.size() - 1}) {
    std::string changed = stamp;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    visitor.carry(changed);
    CHECK(visitor.poll().value("state", "") == "arrived");
  }
  visitor.carry("spillway-sale=");
  CHECK(visitor.visit().status() == 503);
  visitor.carry("spillway-other=" + stamp.substr(stamp.find('=') + 1));
  CHECK(visitor.poll().value("state", "") == "arrived");
  visitor.carry(stamp);
  CHECK(visitor.poll().value("state", "") != "arrived");
}

namespace {

json with_cache(json room) {
  room.merge_patch({{"active_sessions", 1}, {"secure_cookie", false}});
  return selling(
      json::object(),
      {{"routes",
        {{{"name", "sale"},
          {"match", {{"path", "/sale/**"}}},
          {"class", "P1"},
          {"cache", {{"serve", "fresh"}, {"max_bytes", 1 << 20}, {"personal", {"Authorization"}}}},
          {"waiting_room", room}}}}});
}

}  // namespace

TEST_CASE("a fresh stored response needs no pass, and none is stored with one") {
  Shop shop("Cache-Control: max-age=600\r\n");
  ProxyUnderTest proxy(shop.address(), with_cache(json::object()));
  Visitor inside(proxy);
  CHECK(is_in(inside.visit()));
  CHECK(inside.jar().starts_with("spillway-sale=p"));
  Visitor outside(proxy);
  const Message stored = outside.visit();
  CHECK(is_in(stored));
  CHECK_FALSE(stored.field("Set-Cookie"));
  CHECK(outside.visit("/sale/other").status() == 503);
  CHECK(shop.requests().size() == 1);
}

TEST_CASE(
    "who has a place keeps it where the page was stored meanwhile, and comes in when called") {
  Shop shop("Cache-Control: max-age=600\r\n");
  ProxyUnderTest proxy(shop.address(), with_cache(json::object()));
  Visitor inside(proxy);
  CHECK(is_in(inside.visit("/sale/first")));
  Visitor next(proxy);
  next.visit();
  CHECK(next.poll().value("state", "") == "waiting");
  CHECK(is_in(inside.visit()));  // now it is stored
  CHECK(next.visit().status() == 503);
  CHECK(is_in(Visitor(proxy).visit()));  // who has no place loses none
  inside.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  REQUIRE(next.is_called());
  CHECK(is_in(next.visit()));
  CHECK(next.jar().starts_with("spillway-sale=p"));
  CHECK(next.poll().value("state", "") == "fulfilled");
  CHECK(shop.requests().size() == 2);
}

TEST_CASE("who is inside stays there by stored responses, too") {
  Shop shop("Cache-Control: max-age=600\r\nCDN-Cache-Control: max-age=600\r\n");
  ProxyUnderTest proxy(shop.address(), with_cache({{"idle_ms", 1000}}));
  Visitor inside(proxy);
  CHECK(is_in(inside.visit()));
  const std::string first = inside.jar();
  const Deadline deadline(kPatience);
  Message last;
  while (inside.jar() == first && !deadline.passed()) last = inside.visit();
  CHECK(is_in(last));
  // Nobody on the way may keep it.
  CHECK(last.field("Cache-Control") == "private, no-cache");
  CHECK_FALSE(last.field("CDN-Cache-Control"));
  CHECK(inside.jar() != first);  // it has its next pass: its session was used
  CHECK(shop.requests().size() == 1);
}

TEST_CASE("who was let in has a pass, also when the response is an error of the proxy") {
  ScriptedPeer broken([](PeerConnection&) {});
  ProxyUnderTest proxy(broken.address(), selling({{"active_sessions", 1}}));
  Visitor first(proxy);
  CHECK(first.visit().status() == 502);
  CHECK(first.jar().starts_with("spillway-sale=p"));
  Visitor second(proxy);
  CHECK(second.visit().status() == 503);
  CHECK(second.jar().starts_with("spillway-sale=s"));
  CHECK(first.visit().status() == 502);  // not to the waiting page: it is inside
}

TEST_CASE("a cookie that a sister host can plant does not hide the visitor's own") {
  Shop shop;
  json settings = selling(always());
  settings["routes"][0]["waiting_room"]["secure_cookie"] = true;
  ProxyUnderTest proxy(shop.address(), settings);
  Visitor victim(proxy);
  victim.join();
  REQUIRE(victim.jar().starts_with("__Host-spillway-sale=t"));
  Visitor attacker(proxy);
  attacker.join();
  const std::string own = victim.poll().at("id");
  const std::string planted = attacker.jar().substr(std::string("__Host-").size());
  for (int n = 0; n < 20; ++n) victim.carry(victim.jar() + "; " + planted);
  CHECK(victim.poll().at("id") == own);
  // Nor does it count before the visitor has one of its own: that would be the attacker's place.
  Visitor newcomer(proxy);
  newcomer.carry(planted);
  CHECK(newcomer.visit().status() == 503);
  CHECK(newcomer.jar().starts_with("__Host-spillway-sale=s"));
  CHECK(newcomer.poll().at("id") != attacker.poll().at("id"));
}

TEST_CASE("a visitor of many waiting rooms is known in each") {
  Shop shop;
  json routes = json::array();
  for (int n = 0; n < 8; ++n) {
    const std::string name = "sale" + std::to_string(n);
    routes.push_back({{"name", name},
                      {"match", {{"path", "/" + name + "/**"}}},
                      {"class", "P1"},
                      {"waiting_room", {{"active_sessions", 1}, {"secure_cookie", false}}}});
  }
  ProxyUnderTest proxy(shop.address(),
                       {{"workers", 1}, {"store", {{"url", "memory:"}}}, {"routes", routes}});
  RawClient client(proxy.port());
  std::string jar;
  const auto visit = [&](int n) {
    return client.ask("GET /sale" + std::to_string(n) + "/ HTTP/1.1\r\nHost: a\r\n" + kNavigation +
                      (jar.empty() ? "" : "Cookie: " + jar + "\r\n") + "\r\n");
  };
  for (int n = 0; n < 8; ++n) {
    const Message answer = visit(n);
    CHECK(is_in(answer));
    const std::string cookie = answer.field("Set-Cookie").value_or("");
    jar += (jar.empty() ? "" : "; ") + cookie.substr(0, cookie.find(';'));
  }
  for (int n = 0; n < 8; ++n) CHECK(is_in(visit(n)));  // without its pass it would wait
  CHECK_FALSE(shop.requests().back().field("Cookie"));
}

TEST_CASE("a reload keeps places, passes and who is inside") {
  Shop shop;
  const json one =
      configuration({shop.address()}, selling({{"active_sessions", 1}, {"when", "always"}}));
  ProxyUnderTest proxy(one);
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor waiting(proxy);
  CHECK(waiting.join().value("state", "") == "waiting");
  const json two =
      configuration({shop.address()}, selling({{"active_sessions", 2}, {"when", "always"}}));
  CHECK(proxy.reload(two).status() == 200);
  CHECK(is_in(inside.visit()));
  REQUIRE(waiting.is_called());
  CHECK(is_in(waiting.visit()));
}
