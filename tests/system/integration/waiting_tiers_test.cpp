// The tier of a visitor comes from what is verified, is kept with its place, and says who goes
// first.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kVipKey = "X-Api-Key: very-important-1\r\n";
const std::string kSpareKey = "X-Api-Key: of-no-tier-here\r\n";

json with_keys(json more = json::object()) {
  json changes{{"tenants",
                {{"api_keys",
                  {{{"name", "acme"}, {"key", "very-important-1"}, {"tier", "vip"}},
                   {{"name", "bee"}, {"key", "of-no-tier-here"}}}}}},
               {"trusted_headers", {{"tier", "X-Tier"}}}};
  changes.merge_patch(more);
  return changes;
}

// Of one key there may be many visitors.
json crowded() {
  json room = always();
  room["per_user"] = 0;
  return room;
}

// A sale with one session, which is taken.
struct Full {
  explicit Full(const json& more = with_keys()) : proxy(shop.address(), selling(crowded(), more)) {
    inside.join();
    REQUIRE(inside.is_called());
    REQUIRE(is_in(inside.visit()));
  }
  // The tier of a visitor with these fields, as the operator sees it.
  std::string tier_of(const std::string& fields) {
    Visitor visitor(proxy, kNavigation + fields);
    const std::string id = visitor.join().at("id");
    return Operator{proxy.admin_port()}.get("/rooms/sale/tickets/" + id).at("tier");
  }
  bool make_room() {
    return inside
               .ask("POST", "/_spillway/rooms/sale/leave",
                    "Spillway-Leave: 1\r\nContent-Length: 0\r\n")
               .status() == 204;
  }

  Shop shop;
  ProxyUnderTest proxy;
  Visitor inside{proxy};
};

}  // namespace

TEST_CASE("who has the key of a higher tier goes first, and the others are told why they wait") {
  Full full;
  Visitor first(full.proxy), second(full.proxy);
  CHECK(first.join().at("position") == 1);
  CHECK(second.join().at("position") == 2);
  Visitor vip(full.proxy, kNavigation + kVipKey);
  CHECK(vip.join().at("position") == 1);  // the poll carries the signed stamp alone
  const json told = first.poll();
  CHECK(told.at("position") == 2);
  CHECK(told.at("why") == "higher_tier");
  CHECK(vip.poll().count("why") == 0);
  const Message page = first.visit();
  CHECK(page.status() == 503);
  CHECK(page.body.find("visitors who are let in first have joined") != std::string::npos);

  const Operator desk{full.proxy.admin_port()};
  const json line = desk.get("/rooms/sale/tickets").at("tickets");
  REQUIRE(line.size() == 3);
  CHECK(line.at(0).at("tier") == "vip");
  CHECK(line.at(1).at("tier") == "standard");
  CHECK(line.at(1).at("why") == "higher_tier");
  CHECK(desk.get("/rooms/sale/tickets?tier=vip").at("tickets").size() == 1);
  CHECK(desk.get("/rooms/sale/tickets?tier=standard").at("tickets").size() == 2);
  CHECK(desk.get("/rooms/sale/tickets?tier=premium").at("tickets").empty());
  CHECK(desk.ask("GET", "/rooms/sale/tickets?tier=gold").status() == 400);
  CHECK(full.proxy.metric(R"(spillway_waiting_room_tier_visitors{room="sale",tier="vip"})") == 1);

  REQUIRE(full.make_room());
  REQUIRE(vip.is_called());
  CHECK(is_in(vip.visit()));
  CHECK(first.poll().at("state") == "waiting");
  CHECK(first.poll().count("why") == 0);
  const json room = desk.get("/rooms/sale");
  CHECK(room.at("tiers").at(2) == json{{"name", "vip"}, {"visitors", 0}, {"fulfilled", 1}});
  CHECK(room.at("tiers").at(3).at("visitors") == 2);
}

TEST_CASE("a tier is what a configured key or a trusted peer says, and nothing a client says") {
  Full untrusted;
  CHECK(untrusted.tier_of("") == "standard");
  CHECK(untrusted.tier_of("X-Tier: enterprise\r\n") == "standard");
  CHECK(untrusted.tier_of("X-Api-Key: made-up-key\r\n") == "standard");
  CHECK(untrusted.tier_of(kSpareKey) == "standard");
  CHECK(untrusted.tier_of(kVipKey) == "vip");
  CHECK(untrusted.tier_of(kVipKey + "X-Tier: enterprise\r\n") == "vip");

  Full trusted(with_keys({{"trusted_peers", {"127.0.0.0/8"}}}));
  CHECK(trusted.tier_of("") == "standard");
  CHECK(trusted.tier_of("X-Tier: enterprise\r\n") == "enterprise");
  CHECK(trusted.tier_of("X-Tier: gold\r\n") == "standard");
  CHECK(trusted.tier_of(kVipKey + "X-Tier: premium\r\n") == "premium");
  CHECK(trusted.tier_of(kVipKey) == "vip");
}

TEST_CASE("an underscored copy of the tier's field does not reach the backend of a client") {
  Full full;
  const auto seen = full.shop.requests().size();
  CHECK(is_in(full.inside.ask("GET", "/sale/page", kNavigation + "X_Tier: enterprise\r\n")));
  const auto requests = full.shop.requests();
  REQUIRE(requests.size() == seen + 1);
  CHECK_FALSE(requests.back().field("X_Tier"));
}

TEST_CASE("programs join in the tier of their key") {
  Full full;
  RawClient client(full.proxy.port());
  const auto post = [&](const std::string& fields) {
    return client.ask("POST /_spillway/rooms/sale/tickets HTTP/1.1\r\nHost: a\r\n" + fields +
                      "Spillway-Join: 1\r\nContent-Length: 0\r\n\r\n");
  };
  const Message stamped = post(kVipKey);
  CHECK(stamped.status() == 202);
  const Message made =
      post("Spillway-Ticket: " + stamped.field("Spillway-Ticket").value_or("") + "\r\n");
  REQUIRE(made.status() == 201);
  const std::string id = json::parse(made.body).at("id");
  const Operator desk{full.proxy.admin_port()};
  CHECK(desk.get("/rooms/sale/tickets/" + id).at("tier") == "vip");
}

TEST_CASE("tier and order survive a restart") {
  const TemporaryDirectory directory;
  Shop shop;
  const json settings =
      selling(always(),
              with_keys({{"store", {{"url", "sqlite:" + (directory.path() / "j.db").string()}}}}));
  std::string standard, vip;
  {
    ProxyUnderTest proxy(shop.address(), settings);
    Operator{proxy.admin_port()}.post("/rooms/sale/pause");
    Visitor one(proxy), other(proxy, kNavigation + kVipKey);
    one.join();
    CHECK(other.join().at("position") == 1);
    standard = one.jar();
    vip = other.jar();
  }
  ProxyUnderTest proxy(shop.address(), settings);
  Operator{proxy.admin_port()}.post("/rooms/sale/pause");
  Visitor one(proxy), other(proxy);
  one.carry(standard);
  other.carry(vip);
  CHECK(one.poll().value("ahead", -1) == 1);
  CHECK(other.poll().value("ahead", -1) == 0);
}
