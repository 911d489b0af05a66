// Visitors that ask far more often than they are told, and addresses that make many tickets.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

std::string limited(const std::string& what) {
  return R"(spillway_waiting_room_limited_total{room="sale",what=")" + what + "\"}";
}

}  // namespace

TEST_CASE("a flood of polls is answered 429, and the visitor keeps its place") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling(always()));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor flood(proxy);
  const std::string id = flood.join().at("id");
  const auto poll = [&flood] {
    return flood.ask("GET", "/_spillway/rooms/sale/ticket", "Sec-Fetch-Mode: cors\r\n");
  };
  int answered = 0;
  int refused = 0;
  Message last;
  for (int n = 0; n < 200; ++n) {
    last = poll();
    (last.status() == 200 ? answered : refused) += 1;
  }
  CHECK(answered >= 30);
  CHECK(refused >= 100);
  REQUIRE(last.status() == 429);
  CHECK(last.field("Content-Type") == "application/problem+json");
  CHECK(last.field("Retry-After"));
  CHECK(last.field("Cache-Control") == "no-store");
  const json problem = json::parse(last.body);
  CHECK(problem.at("reason") == "POLL_LIMIT");
  CHECK(problem.at("status") == 429);
  CHECK(problem.at("retry_after_ms") > 0);
  CHECK(proxy.metric(limited("poll")) == refused);
  CHECK(flood.ask("GET", "/_spillway/rooms/sale/events", "").status() == 429);
  CHECK(flood.ask("GET", "/_spillway/rooms/sale/tickets/" + id, "").status() == 429);
  CHECK(
      flood
          .ask("POST", "/_spillway/rooms/sale/tickets", "Spillway-Join: 1\r\nContent-Length: 0\r\n")
          .status() == 429);

  // Others are not held for it, a look at it is free, and it comes in when it is called.
  Visitor next(proxy);
  CHECK(next.join().at("position") == 2);
  CHECK(next.look(id).at("position") == 1);
  inside.ask("POST", "/_spillway/rooms/sale/leave", "Spillway-Leave: 1\r\nContent-Length: 0\r\n");
  const Deadline deadline(kPatience);
  while (next.look(id).value("state", "") != "processing") REQUIRE_FALSE(deadline.passed());
  CHECK(is_in(flood.visit()));
}

TEST_CASE("beyond joins_per_second an address waits with its stamps, and loses nothing by it") {
  Shop shop;
  json room = always();
  room["joins_per_second"] = 1;  // ten at once
  ProxyUnderTest proxy(shop.address(), selling(room));
  std::vector<Visitor> visitors;
  for (int n = 0; n < 30; ++n) visitors.emplace_back(proxy);
  for (Visitor& visitor : visitors) visitor.visit();
  const auto poll = [](Visitor& visitor) {
    return visitor.ask("GET", "/_spillway/rooms/sale/ticket", "Sec-Fetch-Mode: cors\r\n");
  };
  std::vector<Visitor*> refused;
  for (Visitor& visitor : visitors) {
    const std::string stamp = visitor.jar();
    const Message answer = poll(visitor);
    if (answer.status() == 200) continue;
    REQUIRE(answer.status() == 429);
    CHECK(json::parse(answer.body).at("reason") == "JOIN_LIMIT");
    CHECK(answer.field("Retry-After") == "5");
    CHECK(visitor.jar() == stamp);
    refused.push_back(&visitor);
  }
  REQUIRE(refused.size() >= 10);
  CHECK(refused.size() <= 20);
  CHECK(proxy.metric(limited("join")) == refused.size());
  CHECK(poll(visitors[0]).status() == 200);  // who has a ticket makes none

  // A page of such a visitor says so, too, and asks again by itself.
  const bool has_page = std::ranges::any_of(refused, [](Visitor* visitor) {
    const Message page = visitor->visit();
    return page.status() == 429 && page.field("Content-Type") == "text/html; charset=utf-8";
  });
  CHECK(has_page);
  const Deadline deadline(kPatience);
  while (poll(*refused.back()).status() != 200) REQUIRE_FALSE(deadline.passed());
  CHECK(poll(*refused.back()).status() == 200);
}

TEST_CASE("one network does not fill the line, by default") {
  Shop shop;
  json room = always();
  room["max_tickets"] = 40;
  ProxyUnderTest proxy(shop.address(), selling(room, {{"trusted_peers", {"127.0.0.1"}}}));
  const auto from = [](const std::string& address) {
    return kNavigation + "X-Forwarded-For: " + address + "\r\n";
  };
  const auto joins = [&](const std::string& address) {
    Visitor visitor(proxy, from(address));
    visitor.visit();
    const Message answer =
        visitor.ask("GET", "/_spillway/rooms/sale/ticket",
                    "Sec-Fetch-Mode: cors\r\nX-Forwarded-For: " + address + "\r\n");
    CHECK((answer.status() == 200 || answer.status() == 429));
    return json::parse(answer.body).contains("id");  // it has a ticket
  };
  int flood = 0;
  for (int n = 1; n <= 60; ++n) flood += joins("203.0.113." + std::to_string(n)) ? 1 : 0;
  // One of them is called and may be gone from the count of those who wait.
  CHECK(flood >= 20);
  CHECK(flood <= 21);
  CHECK(proxy.metric(limited("join")) == 60 - flood);
  for (int n = 1; n <= 15; ++n) CHECK(joins("198.51." + std::to_string(n) + ".1"));
  CHECK_FALSE(joins("203.0.113.7"));
}

TEST_CASE("a network without cookies does not hold all places while no visitor has to wait") {
  Shop shop;
  const json room{{"active_sessions", 60}};
  ProxyUnderTest proxy(shop.address(), selling(room, {{"trusted_peers", {"127.0.0.1"}}}));
  const auto from = [](const std::string& address) {
    return kNavigation + "X-Forwarded-For: " + address + "\r\n";
  };
  int in = 0;
  std::string stamp;
  for (int n = 1; n <= 60; ++n) {
    Visitor visitor(proxy, from("203.0.113." + std::to_string(n)));
    const Message answer = visitor.visit();
    CHECK((is_in(answer) || answer.status() == 503));
    in += is_in(answer) ? 1 : 0;
    if (!is_in(answer)) stamp = visitor.jar();
  }
  CHECK(in >= 15);  // half of its share at once
  CHECK(in <= 30);
  REQUIRE(stamp.starts_with("spillway-sale=s"));
  Visitor other(proxy, from("198.51.100.1"));
  CHECK(is_in(other.visit()));
  Visitor again(proxy, from("203.0.113.60"));
  again.carry(stamp);
  CHECK(again.poll().value("state", "") == "closed");  // the page loads itself again
  CHECK(is_in(again.visit()));
  CHECK(again.jar().starts_with("spillway-sale=p"));
}

TEST_CASE("a program that joins too fast is told so in a problem") {
  Shop shop;
  json room = always();
  room["joins_per_second"] = 1;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Message last;
  for (int n = 0; n < 40 && last.status() != 429; ++n) {
    RawClient client(proxy.port());
    const auto join = [&client](const std::string& token) {
      return client.ask(post(
          "/_spillway/rooms/sale/tickets", "",
          "Spillway-Join: 1\r\n" + (token.empty() ? "" : "Spillway-Ticket: " + token + "\r\n")));
    };
    last = join(join("").field("Spillway-Ticket").value_or(""));
  }
  CHECK(last.status() == 429);
  CHECK(last.field("Content-Type") == "application/problem+json");
  CHECK(json::parse(last.body).at("reason") == "JOIN_LIMIT");
  CHECK_FALSE(last.field("Spillway-Ticket"));
}
