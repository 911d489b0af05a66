// What the operator does with a waiting room of a proxy that runs.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/proxy_process.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string ticket_of(Visitor& visitor) { return visitor.poll().at("id"); }

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("the operator sees who waits, page by page, and what has become of the tickets") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const Operator desk{proxy.admin_port()};
  Visitor first(proxy);
  first.join();
  REQUIRE(first.is_called());
  REQUIRE(is_in(first.visit()));
  Visitor second(proxy), third(proxy), fourth(proxy);
  for (Visitor* const visitor : {&second, &third, &fourth}) visitor->join();

  const json rooms = desk.get("/rooms").at("rooms");
  REQUIRE(rooms.size() == 1);
  const json room = desk.get("/rooms/sale");
  CHECK(room.at("waiting") == 3);
  CHECK(room.at("active") == 1);
  CHECK(room.at("success_rate") == 1.0);
  CHECK(room.at("average_wait_ms").is_number());

  const json page = desk.get("/rooms/sale/tickets?limit=2");
  REQUIRE(page.at("tickets").size() == 2);
  CHECK(page.at("tickets").at(0).at("id") == ticket_of(second));
  CHECK(page.at("tickets").at(1).at("position") == 2);
  const json rest =
      desk.get("/rooms/sale/tickets?limit=2&after=" + page.at("next").get<std::string>());
  REQUIRE(rest.at("tickets").size() == 1);
  CHECK(rest.at("tickets").at(0).at("id") == ticket_of(fourth));
  CHECK(rest.at("next").is_null());
  CHECK(desk.get("/rooms/sale/tickets?status=processing").at("tickets").empty());
  const json inside = desk.get("/rooms/sale/tickets?status=fulfilled").at("tickets");
  REQUIRE(inside.size() == 1);
  CHECK(inside.at(0).at("id") == ticket_of(first));

  const std::string third_path = "/rooms/sale/tickets/" + ticket_of(third);
  CHECK(desk.get(third_path).at("position") == 2);
  const json cancelled = json::parse(desk.ask("DELETE", third_path + "?reason=twice").body);
  CHECK(cancelled.at("status") == "cancelled");
  CHECK(desk.get(third_path).at("cause") == "removed");
  CHECK(desk.ask("DELETE", third_path).status() == 404);
  CHECK(third.poll().at("reason") == "removed");
  const json after = desk.get("/rooms/sale");
  CHECK(after.at("tickets_ended").at("removed") == 1);
  CHECK(after.at("success_rate") == 0.5);

  // A session that is ended makes room.
  CHECK(desk.ask("DELETE", "/rooms/sale/tickets/" + ticket_of(first)).status() == 200);
  REQUIRE(second.is_called());
}

TEST_CASE("while entry is paused only the operator calls, and not more than there is room") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always(2)));
  const Operator desk{proxy.admin_port()};
  CHECK(desk.post("/rooms/sale/pause").at("paused") == true);
  Visitor first(proxy), second(proxy), third(proxy);
  for (Visitor* const visitor : {&first, &second, &third}) visitor->join();
  CHECK(first.poll().at("why") == "paused");
  const Message page = first.visit();
  CHECK(has_part(page.body, "Entry is paused. Your place is kept.</p>"));

  const json one = desk.post("/rooms/sale/call");
  REQUIRE(one.at("successes").size() == 1);
  CHECK(one.at("successes").at(0).at("id") == ticket_of(first));
  CHECK(one.at("failures").empty());
  CHECK(one.at("execution_time_ms").is_number());
  CHECK(is_in(first.visit()));
  const json some = desk.post("/rooms/sale/call", {{"count", 3}});
  CHECK(some.at("successes").size() == 1);
  REQUIRE(some.at("failures").size() == 1);
  CHECK(some.at("failures").at(0).at("error") == "no_room");
  CHECK(some.at("failures").at(0).at("number") == 2);
  const json all = desk.post("/rooms/sale/call", {{"count", 3}, {"continue_on_error", true}});
  CHECK(all.at("failures").size() == 3);
  CHECK(is_in(second.visit()));
  CHECK(third.poll().at("state") == "waiting");
  CHECK(desk.post("/rooms/sale/resume").at("paused") == false);
  CHECK(desk.ask("DELETE", "/rooms/sale/tickets/" + ticket_of(first)).status() == 200);
  REQUIRE(third.is_called());
}

TEST_CASE("one message reaches all who wait, as text, by poll, page and event") {
  Shop shop;
  json room = always();
  room["message"] = "Welcome";
  ProxyUnderTest proxy(shop.address(), selling(room));
  const Operator desk{proxy.admin_port()};
  desk.post("/rooms/sale/pause");
  Visitor visitor(proxy), listener(proxy);
  visitor.join();
  listener.join();
  CHECK(visitor.poll().at("message") == "Welcome");
  listener.client().send("GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: a\r\nCookie: " +
                         listener.jar() + "\r\n\r\n");
  CHECK(listener.client().read_head().status() == 200);
  std::string events;
  const auto comes = [&](const std::string& part) {
    while (!has_part(events, part)) events += listener.client().read_bytes(1);
  };
  comes("Welcome");
  const std::string text = "<b>12 left</b> & counting";
  CHECK(desk.post("/rooms/sale/message", {{"text", text}}).at("message") == text);
  CHECK(visitor.poll().at("message") == text);
  comes("12 left");
  const Message page = visitor.visit();
  CHECK(has_part(page.body, "&lt;b&gt;12 left&lt;/b&gt; &amp; counting</p>"));
  CHECK_FALSE(has_part(page.body, "<b>12 left"));
  CHECK(desk.post("/rooms/sale/message", {{"text", ""}}).at("message") == "Welcome");
  CHECK(visitor.poll().at("message") == "Welcome");
}

TEST_CASE("sold out: all tickets end, newcomers are told the same, and who is inside goes on") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const Operator desk{proxy.admin_port()};
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor waiting(proxy);
  waiting.join();
  const std::string id = ticket_of(waiting);
  const json told = desk.post("/rooms/sale/message", {{"text", "Sold out"}, {"ends", true}});
  CHECK(told.at("ended") == true);
  const json status = waiting.poll();
  CHECK(status.at("state") == "ended");
  CHECK(status.at("message") == "Sold out");
  for (const Message& page : {waiting.visit(), Visitor(proxy).visit()}) {
    CHECK(page.status() == 503);
    CHECK(has_part(page.body, "This line has ended</h1>"));
    CHECK(has_part(page.body, "Sold out</p>"));
    CHECK_FALSE(has_part(page.body, "http-equiv=\"refresh\""));
  }
  RawClient program(proxy.port());
  const Message join =
      program.ask(post("/_spillway/rooms/sale/tickets", "", "Spillway-Join: 1\r\n"));
  CHECK(join.status() == 409);
  CHECK(json::parse(join.body).at("message") == "Sold out");
  CHECK(json::parse(program.ask(get("/sale/page")).body).at("state") == "ended");
  CHECK(is_in(inside.visit()));
  CHECK(proxy.metric_becomes(
      R"(spillway_waiting_room_ended_total{room="sale",what="ticket",cause="room_ended"})", 1));
  CHECK(desk.get("/rooms/sale").at("waiting") == 0);
  CHECK(desk.get("/rooms/sale/tickets/" + id).at("cause") == "room_ended");

  desk.post("/rooms/sale/message", {{"text", ""}, {"ends", false}});
  Visitor late(proxy);
  CHECK(late.join().at("state") == "waiting");
}

TEST_CASE("a moved ticket has its new place at once, and one that is called cannot be moved") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const Operator desk{proxy.admin_port()};
  desk.post("/rooms/sale/pause");
  Visitor first(proxy), second(proxy), third(proxy);
  for (Visitor* const visitor : {&first, &second, &third}) visitor->join();
  const std::string path = "/rooms/sale/tickets/" + ticket_of(third) + "/move";
  CHECK(desk.post(path, {{"to", "front"}}).at("position") == 1);
  CHECK(third.poll().at("position") == 1);
  CHECK(first.poll().at("position") == 2);
  CHECK(desk.post(path, {{"to", 2}}).at("position") == 2);
  CHECK(desk.post(path, {{"to", 99}}).at("position") == 3);
  CHECK(desk.post(path, {{"to", "front"}}).at("position") == 1);
  CHECK(desk.post("/rooms/sale/call").at("successes").at(0).at("id") == ticket_of(third));
  CHECK(desk.ask("POST", path, R"({"to":2})").status() == 409);
  const std::string unknown = "/rooms/sale/tickets/" + std::string(32, '0') + "/move";
  CHECK(desk.ask("POST", unknown, R"({"to":2})").status() == 404);
}

TEST_CASE("an open room has all visitors wait until it is closed; a reload changes neither") {
  Shop shop;
  const json one = configuration({shop.address()}, selling({{"active_sessions", 5}}));
  ProxyUnderTest proxy(one);
  const Operator desk{proxy.admin_port()};
  CHECK(is_in(Visitor(proxy).visit()));
  CHECK(desk.post("/rooms/sale/open").at("held_open") == true);
  desk.post("/rooms/sale/message", {{"text", "Soon"}});
  CHECK(Visitor(proxy).visit().status() == 503);
  const json two = configuration({shop.address()}, selling({{"active_sessions", 6}}));
  REQUIRE(proxy.reload(two).status() == 200);
  Visitor visitor(proxy);
  CHECK(visitor.visit().status() == 503);
  CHECK(desk.get("/rooms/sale").at("message") == "Soon");
  CHECK(visitor.poll().at("message") == "Soon");
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.visit()));
  CHECK(desk.post("/rooms/sale/close").at("held_open") == false);
}

TEST_CASE("the pages of waiting rooms ask for the token and refuse bad input") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always(), {{"admin", {{"token", "hush-hush"}}}}));
  const Operator stranger{proxy.admin_port()};
  const Operator desk{proxy.admin_port(), "Authorization: Bearer hush-hush\r\n"};
  const Operator page{proxy.admin_port(),
                      "Authorization: Bearer hush-hush\r\nOrigin: http://localhost\r\n"};
  const std::string ticket = "/rooms/sale/tickets/" + std::string(32, '0');
  for (const std::string act : {"call", "open", "close", "pause", "resume", "message"}) {
    CAPTURE(act);
    const std::string path = "/rooms/sale/" + act;
    CHECK(stranger.ask("POST", path, "{}").status() == 401);
    CHECK(page.ask("POST", path, "{}").status() == 403);
    CHECK(desk.ask("POST", path, "{}", "text/plain").status() == 415);
    CHECK(desk.ask("POST", path, R"({"none":1})").status() == 400);
    CHECK(desk.ask("GET", path).status() == 405);
    CHECK(desk.ask("POST", "/rooms/none/" + act, "{}").status() == 404);
  }
  for (const std::string path : {std::string("/rooms"), std::string("/rooms/sale"), ticket}) {
    CHECK(stranger.ask("GET", path).status() == 401);
    CHECK(desk.ask("PUT", path).status() == 405);
  }
  CHECK(stranger.ask("DELETE", ticket).status() == 401);
  CHECK(page.ask("DELETE", ticket).status() == 403);
  CHECK(desk.ask("DELETE", ticket + "?user=7").status() == 400);
  CHECK(desk.ask("GET", "/rooms/sale/tickets?owner=7").status() == 400);
  CHECK(desk.ask("GET", "/rooms/sale/else").status() == 404);
  const json room = desk.get("/rooms/sale");
  CHECK(room.at("held_open") == false);
  CHECK(room.at("paused") == false);
}

TEST_CASE("a proxy without waiting rooms has an empty list of them") {
  Shop shop;
  ProxyUnderTest proxy(shop.address());
  const Operator desk{proxy.admin_port()};
  CHECK(desk.get("/rooms").at("rooms").empty());
  CHECK(desk.ask("GET", "/rooms/sale").status() == 404);
}

TEST_CASE("every act leaves one line in the log, with who asked for it, and so does a reason") {
  Shop shop;
  ProxyProcess proxy(
      configuration({shop.address()}, selling(always(), {{"log", {{"level", "info"}}}})));
  const Operator desk{proxy.admin_port()};
  desk.post("/rooms/sale/open");
  desk.post("/rooms/sale/pause");
  Visitor first(proxy, "Accept: text/html\r\n"), second(proxy);
  first.join();
  second.join();
  const std::string id = ticket_of(second);
  desk.post("/rooms/sale/tickets/" + id + "/move", {{"to", "front"}});
  desk.post("/rooms/sale/call");
  desk.ask("DELETE", "/rooms/sale/tickets/" + id + "?reason=a%0Atest");
  desk.ask("DELETE", "/rooms/sale/tickets/" + id);  // there is none any more: no line
  const std::string own = "/_spillway/rooms/sale/tickets/" + ticket_of(first);
  CHECK(first.ask("DELETE", own + "?reason=bored", "").status() == 204);
  desk.post("/rooms/sale/message", {{"text", "Sold out"}, {"ends", true}});
  desk.post("/rooms/sale/message", {{"ends", false}});
  desk.post("/rooms/sale/resume");
  desk.post("/rooms/sale/close");
  REQUIRE(proxy.process().wait_for_output("\"act\":\"close\""));
  std::vector<std::string> acts;
  std::istringstream text(proxy.process().err());
  for (std::string line; std::getline(text, line);) {
    const json event = json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    if (event.value("event", "") == "ticket_cancelled") {
      CHECK(event.at("reason") == "bored");
      acts.push_back("-");
    }
    if (event.value("event", "") != "room_changed") continue;
    CHECK(event.at("client") == "127.0.0.1");
    CHECK(event.at("room") == "sale");
    acts.push_back(event.at("act"));
    if (acts.back() == "move" || acts.back() == "cancel") CHECK(event.at("ticket") == id);
    if (acts.back() == "cancel") CHECK(event.at("text") == "a\ntest");
    if (acts.back() == "end") CHECK(event.at("text") == "Sold out");
    if (acts.back() == "call") CHECK(event.at("number") == 1);
  }
  CHECK(acts == std::vector<std::string>{"open", "pause", "move", "call", "cancel", "-", "end",
                                         "go_on", "resume", "close"});
}
