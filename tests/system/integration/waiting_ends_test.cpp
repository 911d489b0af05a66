// Tickets and sessions that are over: what their visitors and the operator are told.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// The one session is taken.
struct Sale {
  explicit Sale(const json& room = always())
      : proxy(shop.address(), selling(room)), desk{proxy.admin_port()}, inside(proxy) {
    inside.join();
    REQUIRE(inside.is_called());
    REQUIRE(is_in(inside.visit()));
  }
  json look(const std::string& id) const {
    return json::parse(
        RawClient(proxy.port()).ask(get("/_spillway/rooms/sale/tickets/" + id)).body);
  }

  Shop shop;
  ProxyUnderTest proxy;
  Operator desk;
  Visitor inside;
};

std::string page_of(Visitor& visitor) { return visitor.visit().body; }

bool leave(Visitor& visitor) {
  return visitor
             .ask("POST", "/_spillway/rooms/sale/leave",
                  "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
             .status() == 204;
}

}  // namespace

TEST_CASE("who asks after a ticket that is over is told how and when it ended") {
  Sale sale;
  Visitor gone(sale.proxy);
  const std::string id = gone.join().at("id");
  const std::string cookie = gone.jar();
  REQUIRE(leave(gone));
  const json seen = sale.look(id);
  CHECK(seen.at("state") == "cancelled");
  CHECK(seen.at("reason") == "cancelled");
  CHECK(seen.at("ended_at").get<std::string>().size() == 24);
  CHECK(seen.at("id") == id);
  CHECK_FALSE(seen.contains("position"));
  CHECK_FALSE(seen.contains("poll_ms"));

  gone.carry(cookie);  // another tab, or a program that kept it
  const json own = gone.poll();
  CHECK(own.at("state") == "cancelled");
  CHECK(own.at("reason") == "cancelled");
  CHECK(own.contains("poll_ms"));
  CHECK(page_of(gone).find("You left the line") != std::string::npos);
  CHECK(gone.join().at("state") == "waiting");  // it arrives anew
}

TEST_CASE("a browser is told once, by the page, why its place has ended, and then arrives anew") {
  Sale sale;
  Visitor removed(sale.proxy);
  const std::string id = removed.join().at("id");
  const std::string ticket = removed.jar();
  REQUIRE(sale.desk.ask("DELETE", "/rooms/sale/tickets/" + id).status() == 200);

  const Message told = removed.visit();
  CHECK(told.status() == 503);
  CHECK(told.body.find("The operator of this site has ended it.") != std::string::npos);
  CHECK(told.body.find("http-equiv=\"refresh\"") == std::string::npos);
  CHECK(told.field("Cache-Control") == "no-store");
  CHECK(told.field("Set-Cookie").value_or("").find("Max-Age=0") != std::string::npos);
  CHECK(page_of(removed).find("One moment") != std::string::npos);
  CHECK(removed.poll().at("position") == 1);

  // What is no visit is told nothing, and takes nothing along.
  removed.carry(ticket);
  const Message picture = removed.ask("GET", "/sale/page", "Sec-Fetch-Dest: image\r\n");
  CHECK(picture.status() == 503);
  CHECK_FALSE(picture.field("Set-Cookie"));
  // A program that sends the same field again and again gets a stamp each time.
  Visitor program(sale.proxy, "Accept: text/html\r\nSpillway-Ticket: " +
                                  ticket.substr(ticket.find('=') + 1) + "\r\n");
  for (int n = 0; n < 2; ++n) {
    program.carry("");
    CHECK(program.visit().field("Spillway-Ticket").value_or("").starts_with("s"));
  }
}

TEST_CASE("the form of a page whose place has ended leads to a new one, and costs none") {
  Sale sale;
  Visitor removed(sale.proxy);
  const std::string id = removed.join().at("id");
  REQUIRE(sale.desk.ask("DELETE", "/rooms/sale/tickets/" + id).status() == 200);
  REQUIRE(removed.poll().at("reason") == "removed");  // its script shows it, and loads nothing
  const auto press = [&removed] {
    return removed.ask("POST", "/_spillway/rooms/sale/rejoin",
                       "Referer: http://a/sale/page?x=1\r\nContent-Length: 0\r\n");
  };
  const Message back = press();
  CHECK(back.status() == 303);
  CHECK(back.field("Location") == "/sale/page?x=1");
  CHECK(page_of(removed).find("One moment") != std::string::npos);
  const json place = removed.poll();
  CHECK(place.at("state") == "waiting");
  // In a second tab, which has not seen it.
  const Message again = press();
  CHECK(again.status() == 303);
  CHECK_FALSE(again.field("Set-Cookie"));
  CHECK(removed.poll().at("id") == place.at("id"));
}

TEST_CASE("whose session was ended is told so by the page, if it has to wait") {
  json room = always();
  room["idle_ms"] = 4000;  // a pass is looked up after a quarter of it
  Sale sale(room);
  Visitor next(sale.proxy);
  next.join();
  const std::string sessions = "/rooms/sale/tickets?status=fulfilled";
  const std::string id = sale.desk.get(sessions).at("tickets").at(0).at("id");
  REQUIRE(sale.desk.ask("DELETE", "/rooms/sale/tickets/" + id).status() == 200);
  const Deadline deadline(kPatience);
  std::string page = "in";
  while (page == "in") {
    REQUIRE_FALSE(deadline.passed());
    page = page_of(sale.inside);
  }
  CHECK(page.find("The operator of this site has ended it.") != std::string::npos);
  CHECK(sale.inside.join().at("state") == "waiting");
}

TEST_CASE("a call that was not followed is told as such") {
  json room = always();
  room["attempts"] = 1;
  room["claim_ms"] = 1000;
  room["poll"] = {{"min_ms", 1000}, {"max_ms", 1000}};
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Visitor absent(proxy);
  const std::string id = absent.join().at("id");
  REQUIRE(absent.is_called());
  const Deadline deadline(kPatience);
  while (absent.look(id).value("state", "") == "processing") REQUIRE_FALSE(deadline.passed());
  CHECK(absent.look(id).at("state") == "expired");
  CHECK(absent.look(id).at("reason") == "not_claimed");
  CHECK(absent.poll().at("state") == "expired");
}

TEST_CASE("whose session ran out is told so, and that nobody has to wait") {
  Shop shop;
  ProxyUnderTest proxy(
      shop.address(),
      selling({{"active_sessions", 1}, {"session_ttl_ms", 1000}, {"idle_ms", 1000}}));
  Visitor inside(proxy);
  for (int n = 0; n < 2; ++n) REQUIRE(is_in(inside.visit()));
  const Deadline deadline(kPatience);
  json told;
  while (!told.contains("reason")) {
    REQUIRE_FALSE(deadline.passed());
    told = inside.poll();
  }
  CHECK(told.at("state") == "closed");
  CHECK(told.at("reason") == "too_long");
  CHECK(is_in(inside.visit()));
}

TEST_CASE("the holder of a pass is told that its session is over") {
  Sale sale;
  const std::string path = "/rooms/sale/tickets/";
  const std::string id = sale.desk.get(path.substr(0, path.size() - 1) + "?status=fulfilled")
                             .at("tickets")
                             .at(0)
                             .at("id");
  CHECK(sale.inside.poll().at("state") == "fulfilled");
  CHECK(sale.desk.ask("DELETE", path + id).status() == 200);
  const json own = sale.inside.poll();
  CHECK(own.at("state") == "cancelled");
  CHECK(own.at("reason") == "removed");
  CHECK(sale.desk.get(path + id).at("what") == "session");
}

TEST_CASE("the last event of a stream says how its ticket ended") {
  Sale sale;
  Visitor waiting(sale.proxy);
  const std::string id = waiting.join().at("id");
  waiting.client().send("GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: a\r\nCookie: " +
                        waiting.jar() + "\r\n\r\n");
  waiting.client().read_head();
  CHECK(sale.desk.ask("DELETE", "/rooms/sale/tickets/" + id).status() == 200);
  std::string events;
  while (events.find("event: status\ndata: {\"room\":\"sale\",\"state\":\"cancelled\"") ==
         std::string::npos)
    events += waiting.client().read_bytes(1);
  CHECK(events.find("event: cancelled\ndata: {") != std::string::npos);
  CHECK(events.find("\"reason\":\"removed\"") != std::string::npos);
}

TEST_CASE("the operator lists what has ended lately, the latest first, in pages") {
  Sale sale;
  std::vector<std::string> ids;
  for (int n = 0; n < 3; ++n) {
    Visitor visitor(sale.proxy);
    ids.insert(ids.begin(), visitor.join().at("id").get<std::string>());
    REQUIRE(leave(visitor));
  }
  const std::string path = "/rooms/sale/tickets?status=ended";
  const json page = sale.desk.get(path + "&limit=2");
  REQUIRE(page.at("tickets").size() == 2);
  const json& latest = page.at("tickets").at(0);
  CHECK(latest.at("id") == ids[0]);
  CHECK(latest.at("status") == "cancelled");
  CHECK(latest.at("what") == "ticket");
  CHECK(latest.at("cause") == "cancelled");
  const json last = sale.desk.get(path + "&after=" + page.at("next").get<std::string>());
  REQUIRE(last.at("tickets").size() == 1);
  CHECK(last.at("tickets").at(0).at("id") == ids[2]);
  CHECK(last.at("next") == nullptr);
}
