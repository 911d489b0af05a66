// Visitors that never wait: by address, by path, by tier.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

const std::string kBypassed = R"(spillway_waiting_room_bypassed_total{room="sale"})";

// A sale that lets nobody in who has to wait.
json closed(json bypass) {
  json room = always();
  room["opens_at"] = "2100-01-01T00:00:00Z";
  room["bypass"] = std::move(bypass);
  return room;
}

bool goes_on(const ProxyUnderTest& proxy, std::string_view target, const std::string& fields = "") {
  return is_in(Visitor(proxy, kNavigation + fields).visit(target));
}

}  // namespace

TEST_CASE("paths that bypass go on without a pass, in the class of their route") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(),
                       selling(closed({{"paths", {"/sale/health", "/sale/assets/**"}}})));
  Visitor visitor(proxy);
  const Message answer = visitor.visit("/sale/assets/logo.png");
  CHECK(is_in(answer));
  CHECK_FALSE(answer.field("Set-Cookie"));
  CHECK_FALSE(shop.requests().back().field("Spillway-Pass"));
  CHECK(visitor.ask("POST", "/sale/health", "Content-Length: 0\r\n").status() == 200);
  CHECK(visitor.visit("/sale/page").status() == 503);
  CHECK(proxy.metric(kBypassed) == 2);
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="sale",class="P1",outcome="forwarded"})", 2));
  CHECK(proxy.metric(R"(spillway_waiting_room_entered_total{room="sale"})") == 0);
  CHECK(proxy.metric(R"(spillway_waiting_room_visitors{room="sale",state="provisional"})") == 0);

  for (const char* spelling :
       {"/sale/assets/../page", "/sale/assets/%2e%2e/page", "/sale/%61ssets/x",
        "/sale/assets/..;/page", "/sale/page/../health", "/sale/assets//x", "/x/../sale/health"}) {
    CAPTURE(spelling);
    CHECK_FALSE(goes_on(proxy, spelling));
  }
  CHECK(proxy.metric(kBypassed) == 2);
  CHECK(shop.requests().size() == 2);
}

TEST_CASE("a bypassed request leaves the visitor's ticket alone") {
  Shop shop;
  json room = always();
  room["bypass"] = {{"paths", {"/sale/assets/**"}}};
  ProxyUnderTest proxy(shop.address(), selling(room));
  Visitor visitor(proxy);
  visitor.join();
  REQUIRE(visitor.is_called());
  CHECK(is_in(visitor.visit("/sale/assets/a")));
  CHECK(visitor.poll().value("state", "") == "processing");  // not claimed by a picture
  CHECK(visitor.jar().starts_with("spillway-sale=t"));
  CHECK(is_in(visitor.visit()));
  CHECK(visitor.jar().starts_with("spillway-sale=p"));
}

TEST_CASE("clients bypass by the address that is judged, not by what they say") {
  Shop shop;
  const std::string inside = "X-Forwarded-For: 10.1.2.3\r\n";
  const json sale = selling(closed({{"clients", {"10.0.0.0/8"}}}));
  {
    ProxyUnderTest proxy(shop.address(), sale);
    CHECK_FALSE(goes_on(proxy, "/sale/page"));
    CHECK_FALSE(goes_on(proxy, "/sale/page", inside));
    CHECK(proxy.metric(kBypassed) == 0);
  }
  json behind = sale;
  behind["trusted_peers"] = {"127.0.0.0/8"};
  ProxyUnderTest proxy(shop.address(), behind);
  CHECK(goes_on(proxy, "/sale/page", inside));
  CHECK_FALSE(goes_on(proxy, "/sale/page", "X-Forwarded-For: 192.0.2.1\r\n"));
  CHECK_FALSE(goes_on(proxy, "/sale/page", "X-Forwarded-For: 10.1.2.3, 192.0.2.1\r\n"));
  CHECK(proxy.metric(kBypassed) == 1);
}

TEST_CASE("a tier bypasses by a key, and not by a client's word") {
  Shop shop;
  json sale = selling(closed({{"tiers", {"staff"}}}));
  sale["tenants"] = {
      {"api_keys", {{{"name", "us"}, {"key", "of-our-own-staff"}, {"tier", "staff"}}}}};
  sale["trusted_headers"] = {{"tier", "X-Tier"}};
  ProxyUnderTest proxy(shop.address(), sale);
  CHECK(goes_on(proxy, "/sale/page", "X-Api-Key: of-our-own-staff\r\n"));
  CHECK_FALSE(goes_on(proxy, "/sale/page", "X-Api-Key: of-nobody-here-\r\n"));
  CHECK_FALSE(goes_on(proxy, "/sale/page", "X-Tier: staff\r\n"));
  CHECK_FALSE(goes_on(proxy, "/sale/page"));
  CHECK(proxy.metric(kBypassed) == 1);
}
