// Places that the waiting page offers, and that its visitors take by its form.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kJoin = "/_spillway/rooms/sale/join";
const std::string kReferer = "Referer: http://a.example/sale/page?of=1\r\n";

json offering(json more = json::object()) {
  json room = always();
  room["join"] = "offer";
  room.merge_patch(more);
  return selling(room);
}

double joined(const ProxyUnderTest& proxy) {
  return proxy.metric(R"(spillway_waiting_room_joined_total{room="sale"})");
}
double offered(const ProxyUnderTest& proxy) {
  return proxy.metric(R"(spillway_waiting_room_offered_total{room="sale"})");
}
double in_line(const ProxyUnderTest& proxy) {
  return proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="waiting"})") +
         proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="processing"})");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What the page's form sends; empty if it has none.
std::string form_of(const Message& page) {
  const std::string field = "<input type=\"hidden\" name=\"offer\" value=\"";
  const std::size_t begin = page.body.find(field);
  if (begin == std::string::npos) return {};
  const std::string rest = page.body.substr(begin + field.size());
  return "offer=" + rest.substr(0, rest.find('"'));
}

// Sends that form as a browser without scripts does.
Message take(Visitor& visitor, const std::string& form, const std::string& more = kReferer) {
  const std::string cookie = visitor.jar().empty() ? "" : "Cookie: " + visitor.jar() + "\r\n";
  const std::string accept = contains(more, "Accept: ") ? "" : "Accept: text/html\r\n";
  Message answer = visitor.client().ask(post(
      kJoin, form, accept + "Content-Type: application/x-www-form-urlencoded\r\n" + cookie + more));
  if (const auto set = answer.field("Set-Cookie")) visitor.carry(set->substr(0, set->find(';')));
  return answer;
}

// So that the others have to wait.
void go_in(Visitor& visitor) {
  REQUIRE(take(visitor, form_of(visitor.visit())).status() == 303);
  REQUIRE(visitor.is_called());
  REQUIRE(is_in(visitor.visit()));
}

}  // namespace

TEST_CASE("a visitor that takes no place gets none, however often it asks") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), offering());
  Visitor visitor(proxy);
  const Message first = visitor.visit();
  CHECK(first.status() == 503);
  CHECK(contains(first.body, "data-state=\"offered\""));
  CHECK(contains(first.body, "Do you want a place in line?"));
  CHECK(contains(first.body, "action=\"" + kJoin + "\""));
  CHECK(contains(first.body, "http-equiv=\"refresh\""));  // without scripts it learns of room so
  const std::string stamp = visitor.jar();
  CHECK(stamp.starts_with("spillway-sale=s"));
  CHECK(contains(first.field("Set-Cookie").value_or(""), "Max-Age=3600"));
  for (int n = 0; n < 5; ++n) {
    const Message again = visitor.visit();
    CHECK(again.status() == 503);
    CHECK(form_of(again).size() > 20);
    const json status = visitor.poll();
    CHECK(status.at("state") == "offered");
    CHECK_FALSE(status.contains("id"));
    CHECK_FALSE(status.contains("position"));
    CHECK(visitor.jar().starts_with("spillway-sale=s"));
  }
  CHECK(joined(proxy) == 0);
  CHECK(in_line(proxy) == 0);
  CHECK(offered(proxy) == 1);  // of a first contact
  CHECK(shop.requests().empty());
}

TEST_CASE("where places are not offered the second contact makes a ticket, as before") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor visitor(proxy);
  CHECK(form_of(visitor.visit()).empty());
  visitor.visit();
  CHECK(joined(proxy) == 1);
  CHECK(offered(proxy) == 0);
}

TEST_CASE("the form takes the place, without scripts, and it goes by the arrival") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), offering());
  Visitor inside(proxy);
  go_in(inside);
  Visitor early(proxy);
  Visitor late(proxy);
  const std::string early_form = form_of(early.visit());
  const Message page = late.visit();
  const Message taken = take(late, form_of(page));
  CHECK(taken.status() == 303);
  CHECK(taken.field("Location") == "/sale/page?of=1");
  CHECK(taken.field("Cache-Control") == "no-store");
  CHECK(late.jar().starts_with("spillway-sale=t"));
  CHECK(take(early, early_form, "").field("Location") == "/");
  CHECK(joined(proxy) == 3);
  CHECK(early.poll().value("position", 0) == 1);
  CHECK(late.poll().value("position", 0) == 2);
  const Message shown = late.visit();
  CHECK(contains(shown.body, "data-state=\"waiting\""));
  CHECK(form_of(shown).empty());
  // The button of another tab, and of the page that the browser goes back to.
  const std::string ticket = late.jar();
  CHECK(take(late, form_of(page)).status() == 303);
  CHECK(late.jar() == ticket);
  CHECK(take(inside, early_form).status() == 303);
  CHECK(is_in(inside.visit()));
  CHECK(joined(proxy) == 3);
}

TEST_CASE(
    "an offer that is made up, changed, another visitor's, or without its cookie is refused") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), offering());
  Visitor visitor(proxy);
  const std::string form = form_of(visitor.visit());
  Visitor other(proxy);
  const std::string foreign = form_of(other.visit());
  const std::string stamp = visitor.jar().substr(visitor.jar().find('=') + 1);
  std::string changed = form;
  changed.back() = changed.back() == 'A' ? 'B' : 'A';
  changed[20] = changed[20] == 'A' ? 'B' : 'A';
  std::string as_stamp = form;
  as_stamp[6] = 's';
  for (const std::string& wrong :
       {std::string(), std::string("offer="), std::string("offer=made-up"), foreign, changed,
        as_stamp, "offer=" + stamp, form + "&more=1", form + "&" + form,
        "stamp=" + form.substr(6)}) {
    CAPTURE(wrong);
    // A browser gets the page again, which has the form that fits: it may be a second tab.
    const Message back = take(visitor, wrong);
    CHECK(back.status() == 303);
    CHECK(back.field("Location") == "/sale/page?of=1");
    CHECK_FALSE(back.field("Set-Cookie"));
    const Message refused = take(visitor, wrong, "Accept: application/json\r\n");
    CHECK(refused.status() == 403);
    CHECK_FALSE(refused.field("Set-Cookie"));
    CHECK(contains(refused.body, "Please load the page again."));
  }
  for (const std::string site : {"same-site", "cross-site", "none"})
    CHECK(take(visitor, form, "Sec-Fetch-Site: " + site + "\r\n").status() == 403);
  Visitor tab(proxy);
  tab.carry(visitor.jar());
  CHECK(take(tab, std::string(1024, 'x')).status() == 303);  // the control: no form that fits
  CHECK(take(tab, std::string(2000, 'x')).status() == 413);
  Visitor without(proxy);  // a page of another site sends no cookie
  CHECK(take(without, form).status() == 403);
  // The form's half is nothing that a visitor could carry.
  without.carry("spillway-sale=" + form.substr(6));
  CHECK(take(without, form).status() == 403);
  CHECK(without.poll().value("state", "") == "arrived");
  CHECK(visitor.ask("GET", kJoin, "").status() == 405);
  CHECK(joined(proxy) == 0);
  CHECK(in_line(proxy) == 0);
  CHECK(take(visitor, form, "Sec-Fetch-Site: same-origin\r\n").status() == 303);  // the control
  CHECK(joined(proxy) == 1);
}

TEST_CASE("a program is told how to take a place, and takes it by POST") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), offering());
  RawClient program(proxy.port());
  const Message told = program.ask(get("/sale/page"));
  CHECK(told.status() == 503);
  CHECK(told.field("Content-Type") == "application/problem+json");
  CHECK(json::parse(told.body).at("state") == "offered");
  std::string links;
  for (const auto& [name, value] : told.fields) {
    if (name == "Link") links += value + "\n";
  }
  CHECK(links ==
        "</_spillway/rooms/sale/ticket>; rel=\"status\"\n"
        "</_spillway/rooms/sale/tickets>; rel=\"next\"\n");
  const std::string token =
      "Spillway-Ticket: " + told.field("Spillway-Ticket").value_or("") + "\r\n";
  const Message polled = program.ask(get("/_spillway/rooms/sale/ticket", token));
  CHECK(json::parse(polled.body).at("state") == "offered");
  CHECK(polled.field("Link") == "</_spillway/rooms/sale/tickets>; rel=\"next\"");
  CHECK(joined(proxy) == 0);
  const Message made =
      program.ask(post("/_spillway/rooms/sale/tickets", "", token + "Spillway-Join: 1\r\n"));
  CHECK(made.status() == 201);
  CHECK(made.field("Location").value_or("").starts_with("/_spillway/rooms/sale/tickets/"));
  CHECK(joined(proxy) == 1);
}

TEST_CASE("no place is offered where there is none, or to a visitor that does not have to wait") {
  Shop shop;
  ProxyUnderTest full(shop.address(), offering({{"max_tickets", 1}}));
  Visitor first(full);
  Visitor second(full);
  const std::string form = form_of(first.visit());
  const std::string second_form = form_of(second.visit());
  CHECK(take(first, form).status() == 303);
  CHECK(take(second, second_form).status() == 303);
  const Message page = second.visit();
  CHECK(contains(page.body, "data-state=\"full\""));
  CHECK(form_of(page).empty());
  CHECK(joined(full) == 1);

  ProxyUnderTest empty(shop.address(), offering({{"when", "full"}}));
  CHECK(is_in(Visitor(empty).visit()));
  CHECK(offered(empty) == 0);
}

TEST_CASE("an offer that was not taken becomes a session when visitors no longer have to wait") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), offering({{"when", "full"}}));
  Visitor inside(proxy);
  REQUIRE(is_in(inside.visit()));
  REQUIRE(is_in(inside.visit()));
  Visitor visitor(proxy);
  CHECK_FALSE(form_of(visitor.visit()).empty());
  CHECK(
      inside
          .ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
          .status() == 204);
  // A stamp keeps the waiting room open for ten seconds.
  CHECK(
      proxy.metric_becomes(R"(spillway_waiting_room_open{room="sale"})", 0, Milliseconds(30'000)));
  CHECK(visitor.poll().value("state", "") == "closed");
  CHECK(is_in(visitor.visit()));
  CHECK(visitor.jar().starts_with("spillway-sale=p"));
  CHECK(joined(proxy) == 0);
}
