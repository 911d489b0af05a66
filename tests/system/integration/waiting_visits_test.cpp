// What counts as a visit to a route with a waiting room, and what a visitor has who was let in.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "system/integration/sale.hpp"
#include "system/integration/upgrade.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr const char* kMadeTickets = R"(spillway_waiting_room_joined_total{room="sale"})";
constexpr const char* kEntered = R"(spillway_waiting_room_entered_total{room="sale"})";

// What a browser asks for besides pages, with the cookies of its visitor.
struct Part {
  std::string_view method;
  std::string fields;
};
std::vector<Part> parts() {
  return {
      {"POST", "Accept: text/html\r\nContent-Length: 0\r\n"},
      {"POST", kNavigation + "Content-Length: 0\r\n"},
      {"GET", "Sec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Site: same-origin\r\n"},
      {"GET", kNavigation + "Sec-Purpose: prefetch;prerender\r\n"},
      {"GET", "Accept: image/avif,image/webp,*/*;q=0.8\r\n"},
      {"GET", "Accept: text/css,*/*;q=0.1\r\n"},
      {"GET", "accept: Audio/*;q=0.9,application/ogg;q=0.7,*/*;q=0.5\r\n"}};
}

void check_refused(const Message& answer) {
  CHECK(answer.status() == 503);
  CHECK(answer.body.find("WAITING_ROOM") != std::string::npos);
  CHECK(answer.body.find("\"state\"") == std::string::npos);  // no place of somebody
  CHECK_FALSE(answer.field("Set-Cookie"));
}

// Lets the visitor in.
void enter(Visitor& visitor) {
  visitor.join();
  REQUIRE(visitor.is_called());
  REQUIRE(is_in(visitor.visit()));
}

const std::string kProvisional =
    R"(spillway_waiting_room_visitors{room="sale",state="provisional"})";

Message send_form(Visitor& visitor) {
  return visitor.ask("POST", "/sale/form",
                     "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: same-origin\r\n"
                     "Content-Length: 0\r\n");
}

}  // namespace

TEST_CASE("what is no visit claims no ticket, and does not use up the place of its visitor") {
  Shop shop;
  json room = always();
  room["status"] = 200;  // of the page alone
  ProxyUnderTest proxy(shop.address(), selling(room));
  Visitor visitor(proxy);
  CHECK(visitor.visit().status() == 200);
  visitor.poll();
  REQUIRE(visitor.is_called());
  Visitor behind(proxy);
  behind.visit();
  CHECK(behind.poll().value("state", "") == "waiting");
  for (Visitor* const each : {&visitor, &behind}) {
    for (const Part& part : parts()) {
      CAPTURE(part.fields);
      check_refused(each->ask(part.method, "/sale/page", part.fields));
    }
  }
  CHECK(proxy.metric(kEntered) == 0);
  CHECK(visitor.poll().value("state", "") == "processing");
  CHECK(shop.requests().empty());
  CHECK(is_in(visitor.visit()));
  CHECK(proxy.metric(kEntered) == 1);
}

TEST_CASE("neither HEAD nor a prefetch takes a place, also of the waiting room's own path") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const std::string ticket = "/_spillway/rooms/sale/ticket";
  Visitor visitor(proxy);
  visitor.visit();
  const std::string stamp = visitor.jar();
  for (const char* purpose : {"Sec-Purpose: prefetch\r\n", "Sec-Purpose: prefetch;prerender\r\n",
                              "Purpose: prefetch\r\n"}) {
    CAPTURE(purpose);
    const Message told = visitor.ask("GET", ticket, purpose);
    CHECK(told.status() == 200);
    CHECK(json::parse(told.body).value("state", "") == "arrived");
    CHECK_FALSE(told.field("Set-Cookie"));
  }
  for (const char* path : {"/ticket", "/events"}) {
    visitor.client().send("HEAD /_spillway/rooms/sale" + std::string(path) +
                          " HTTP/1.1\r\nHost: a\r\nCookie: " + stamp + "\r\n\r\n");
    const Message head = visitor.client().read_response(Expected::head_only);
    CHECK(head.status() == 200);
    CHECK_FALSE(head.field("Set-Cookie"));
  }
  CHECK(proxy.metric(kMadeTickets) == 0);
  CHECK(visitor.poll().value("state", "") == "waiting");  // the control
  CHECK(proxy.metric(kMadeTickets) == 1);
}

TEST_CASE("a form of the waiting page counts only from its own origin") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  const std::string kPage =
      "Accept: text/html\r\nReferer: http://a/sale/page\r\nContent-Length: 0\r\n";
  for (const std::string form : {"refresh/off", "refresh/on", "extend", "rejoin"}) {
    Visitor visitor(proxy);
    visitor.join();
    const auto press = [&](const std::string& from) {
      return visitor.ask("POST", "/_spillway/rooms/sale/" + form, kPage + from);
    };
    for (const std::string from :
         {"Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Origin: http://b\r\n",
          "Origin: null\r\n", "Origin: http://a.b\r\n"}) {
      CAPTURE(form);
      CAPTURE(from);
      const Message refused = press(from);
      CHECK(refused.status() == 403);
      CHECK_FALSE(refused.field("Set-Cookie"));
    }
    // The control: Sec-Fetch-Site counts where both are sent.
    for (const std::string from : {"", "Origin: http://a\r\n", "Sec-Fetch-Site: same-origin\r\n",
                                   "Sec-Fetch-Site: same-origin\r\nOrigin: http://b\r\n"})
      CHECK(press(from).status() == 303);
  }
}

TEST_CASE("behind a trusted peer that rewrites Host, the page's origin is the host asked of it") {
  Shop shop;
  const std::string kPage =
      "Accept: text/html\r\nReferer: http://a/sale/page\r\nContent-Length: 0\r\n"
      "Origin: https://shop.example\r\n";
  for (const bool is_trusted : {true, false}) {
    const json peers = is_trusted ? json::array({"127.0.0.0/8"}) : json::array();
    ProxyUnderTest proxy(shop.address(), selling(always(), {{"trusted_peers", peers}}));
    Visitor visitor(proxy);
    visitor.join();
    const auto press = [&](const std::string& forwarded) {
      return visitor.ask("POST", "/_spillway/rooms/sale/refresh/off", kPage + forwarded).status();
    };
    const int expected = is_trusted ? 303 : 403;
    CAPTURE(is_trusted);
    CHECK(press("X-Forwarded-Host: shop.example\r\n") == expected);
    CHECK(press("Forwarded: for=192.0.2.1;host=Shop.example\r\n") == expected);
    for (const std::string wrong :
         {"", "X-Forwarded-Host: b.example\r\n", "Forwarded: for=192.0.2.1\r\n",
          "X-Forwarded-Host: shop.example\r\nX-Forwarded-Host: b.example\r\n",
          "Forwarded: host=shop.example, host=b.example\r\n"}) {
      CAPTURE(wrong);
      CHECK(press(wrong) == 403);
    }
  }
}

TEST_CASE("pictures of a page over plain HTTP, where nothing says so but Accept, make no ticket") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  for (const char* accept : {"image/avif,image/webp,*/*;q=0.8", "text/css,*/*;q=0.1", "font/woff2",
                             "Video/webm,*/*;q=0.5"}) {
    CAPTURE(accept);
    Visitor picture(proxy);
    for (int n = 0; n < 2; ++n)
      check_refused(picture.ask("GET", "/sale/a", "Accept: " + std::string(accept) + "\r\n"));
  }
  Visitor visitor(proxy, "Accept: text/html,image/avif,*/*;q=0.8\r\n");
  CHECK(visitor.visit().status() == 503);
  CHECK(visitor.jar().starts_with("spillway-sale=s"));
}

TEST_CASE("who was let in waits for a slot as long as its new class does") {
  Event go;
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held" && !proxy.wait(go)) return;
      if (!proxy.send(ok("in"))) return;
    }
  });
  const json patient{{"max_wait_ms", 60'000}, {"sla_ms", 60'000}};
  json p0 = patient, p1 = patient;
  p0.merge_patch({{"name", "P0"}, {"sla_ms", 50}});
  p1["name"] = "P1";
  ProxyUnderTest proxy(
      peer.address(),
      selling(always(),
              {{"default_route", {{"class", "P1"}}},
               {"dispatch", {{"concurrency", 1}}},
               {"classes", {p0, p1}},
               {"overload",
                {{"rules", {{"P0", {{"strategy", "allow"}}}, {"P1", {{"strategy", "allow"}}}}}}}}));
  Visitor visitor(proxy);
  enter(visitor);
  RawClient holder(proxy.port());
  holder.send(get("/held"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 2; }));
  // By the class of the route it would wait for a minute.
  const Message answer = visitor.visit();
  CHECK(answer.body.find("DEADLINE_EXPIRED") != std::string::npos);
  go.set();
  CHECK(holder.read_response().status() == 200);
}

TEST_CASE("a tunnel, an event stream or a download that a first contact opens is a session") {
  constexpr Milliseconds kLong{60'000};
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    const auto request = proxy.read_request();
    if (!request) return;
    const std::string target = request->target();
    proxy.send(target == "/sale/chat" ? kSwitching
               : target == "/sale/news"
                   ? "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n"
                   : "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun");
    proxy.wait_closed(kLong);
  });
  json room{{"active_sessions", 3}, {"idle_ms", 1000}};
  ProxyUnderTest proxy(peer.address(),
                       selling(room, {{"app", {{"response_timeout_ms", kLong.count()}}}}));
  std::vector<RawClient> clients;
  for (const std::string target : {"/sale/chat", "/sale/news", "/sale/file"}) {
    RawClient& client = clients.emplace_back(proxy.port());
    client.send(target == "/sale/chat" ? upgrade(target) : get(target));
    CHECK(client.read_head().field("Set-Cookie").value_or("").starts_with("spillway-sale=p"));
  }
  CHECK(proxy.metric_becomes(R"(spillway_waiting_room_visitors{room="sale",state="active"})", 3));
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="provisional"})") == 0);
}

TEST_CASE("a session does not end while a tunnel, an event stream or a download of it is open") {
  constexpr Milliseconds kLong{60'000};
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/sale/page") {
        if (!proxy.send(ok("in"))) return;
        continue;
      }
      const std::string target = request->target();
      proxy.send(target == "/sale/chat" ? kSwitching
                 : target == "/sale/news"
                     ? "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n"
                     : "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun");
      proxy.wait_closed(kLong);
      return;
    }
  });
  json room = always(4);
  room["idle_ms"] = 1000;
  ProxyUnderTest proxy(peer.address(),
                       selling(room, {{"app", {{"response_timeout_ms", kLong.count()}}}}));
  const std::vector<std::string> targets{"/sale/chat", "/sale/news", "/sale/file"};
  std::vector<Visitor> stay;
  std::vector<std::string> ids;
  for (const std::string& target : targets) {
    Visitor& visitor = stay.emplace_back(proxy);
    ids.push_back(visitor.join().at("id"));
    REQUIRE(visitor.is_called());
    REQUIRE(is_in(visitor.visit("/sale/page")));
    const std::string fields = "Cookie: " + visitor.jar() + "\r\n";
    visitor.client().send(target == "/sale/chat" ? upgrade(target, fields) : get(target, fields));
    visitor.client().read_head();
  }
  Visitor gone(proxy);
  enter(gone);
  // The one that came last is the first to end: some 20 s after its last request.
  REQUIRE(proxy.metric_becomes(
      R"(spillway_waiting_room_ended_total{room="sale",what="session",cause="idle"})", 1, kLong));
  const std::string inside = proxy.admin("/rooms/sale/tickets?status=fulfilled").body;
  for (const std::string& id : ids) CHECK(inside.find(id) != std::string::npos);
}

namespace {

// Of visitors who were let in without a wait and have not come again.
std::vector<std::string> first_passes(const ProxyUnderTest& proxy, std::size_t visitors) {
  std::vector<std::string> passes;
  for (std::size_t n = 0; n < visitors; ++n) {
    Visitor visitor(proxy);
    REQUIRE(is_in(visitor.visit("/sale/form")));
    passes.push_back(visitor.jar());
  }
  return passes;
}

// With so many sessions.
std::vector<Visitor> fill(const ProxyUnderTest& proxy, std::size_t sessions) {
  std::vector<Visitor> holders;
  for (std::size_t n = 0; n < sessions; ++n) {
    Visitor& holder = holders.emplace_back(proxy);
    REQUIRE(is_in(holder.visit()));
    REQUIRE(is_in(holder.visit()));
  }
  return holders;
}

// Passes of one client get no more tickets than joins would.
void show_hoarded(const ProxyUnderTest& proxy, const std::vector<std::string>& passes) {
  std::size_t refused = 0;
  for (std::size_t n = 1; n < passes.size(); ++n) {
    Visitor hoarder(proxy);
    hoarder.carry(passes[n]);
    const unsigned status = hoarder.visit().status();
    CHECK((status == 503 || status == 429));
    refused += status == 429 ? 1 : 0;
    CHECK(hoarder.jar().starts_with(status == 429 ? passes[n] : "spillway-sale=t"));
  }
  CHECK(refused > 0);
  CHECK(refused + 1 < passes.size());
  CHECK(proxy.metric(R"(spillway_waiting_room_limited_total{room="sale",what="join"})") == refused);
}

// Where a place takes work, a late pass does not do without.
void show_without_work(const ProxyUnderTest& proxy, const std::string& pass, std::size_t sessions) {
  const std::vector<Visitor> inside = fill(proxy, sessions);
  Visitor idle(proxy);
  idle.carry(pass);
  CHECK(idle.visit().status() == 503);
  CHECK(idle.jar().starts_with("spillway-sale=s"));
}

}  // namespace

TEST_CASE("a visitor that fills in a form for over a minute is not sent to the end of the line") {
  constexpr std::size_t kSessions = 30;
  Shop shop;
  const json settings{{"active_sessions", kSessions}, {"joins_per_second", 1}};  // ten at once
  json dear = settings;
  dear["challenge"] = {{"work_bits", 8}};
  ProxyUnderTest careful(shop.address(), selling(dear));
  const std::vector<std::string> dear_passes = first_passes(careful, 1);
  ProxyUnderTest proxy(shop.address(), selling(settings));
  const std::vector<std::string> passes = first_passes(proxy, kSessions);
  const std::string& first_pass = passes.front();
  REQUIRE(proxy.metric(kProvisional) == kSessions);
  REQUIRE(proxy.metric_becomes(kProvisional, 0, Milliseconds(65'000)));
  Visitor reader(proxy);  // by another connection: that one was idle for too long
  reader.carry(first_pass);
  std::vector<Visitor> holders = fill(proxy, kSessions);
  Visitor& holder = holders.front();
  Visitor waiting(proxy);
  REQUIRE(waiting.join().at("position") == 1);

  const Message refused = send_form(reader);
  CHECK(refused.status() == 503);
  CHECK(refused.body.find("WAITING_ROOM") != std::string::npos);
  CHECK(reader.jar() == first_pass);
  Visitor tab(proxy);
  tab.carry(first_pass);
  CHECK(tab.visit("/sale/form").status() == 503);
  REQUIRE(tab.jar().starts_with("spillway-sale=t"));
  CHECK(tab.poll().at("position") == 1);
  CHECK(waiting.poll().at("position") == 2);
  CHECK(reader.poll().at("state") == "waiting");

  holder.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  REQUIRE(tab.is_called());
  CHECK(is_in(send_form(reader)));
  CHECK(is_in(reader.visit()));
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="active"})") == kSessions);
  CHECK(waiting.visit().status() == 503);
  show_hoarded(proxy, passes);
  show_without_work(careful, dear_passes.front(), kSessions);
}
