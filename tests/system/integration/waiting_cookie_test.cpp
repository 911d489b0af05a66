// How long a browser keeps what a visitor of a waiting room carries.
#include <doctest/doctest.h>

#include <string>

#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;

namespace {

// Of the Set-Cookie of an answer; -1 if it ends with the browser.
int life_of(const Message& answer) {
  const std::string cookie = answer.field("Set-Cookie").value_or("");
  const std::size_t at = cookie.find("; Max-Age=");
  return at == std::string::npos ? -1 : std::stoi(cookie.substr(at + 10));
}

}  // namespace

TEST_CASE("a browser that is opened again still has its place, and its pass") {
  Shop shop;
  nlohmann::json room = always();
  room["session_ttl_ms"] = 600'000;
  ProxyUnderTest proxy(shop.address(), selling(room));
  Visitor visitor(proxy);
  CHECK(life_of(visitor.visit()) == 60);  // a stamp is good for that long
  const Message ticket = visitor.ask("GET", "/_spillway/rooms/sale/ticket", "");
  REQUIRE(visitor.jar().starts_with("spillway-sale=t"));
  CHECK(life_of(ticket) == 129'600);
  REQUIRE(visitor.is_called());
  const Message page = visitor.visit();
  REQUIRE(visitor.jar().starts_with("spillway-sale=p"));
  CHECK(life_of(page) == 600);
  CHECK(life_of(visitor.ask("POST", "/_spillway/rooms/sale/leave",
                            "Spillway-Leave: 1\r\nContent-Length: 0\r\n")) == 0);
}

TEST_CASE("a reload to cookies of plain HTTP keeps those of before, and the way back does not") {
  Shop shop;
  nlohmann::json settings = selling(always());
  bool& is_secure =
      settings["routes"][0]["waiting_room"]["secure_cookie"].get_ref<nlohmann::json::boolean_t&>();
  is_secure = true;
  ProxyUnderTest proxy(shop.address(), settings);
  Visitor visitor(proxy);
  visitor.join();
  const std::string secure = visitor.jar();
  const std::string id = visitor.poll().at("id");
  REQUIRE(visitor.is_called());
  is_secure = false;
  REQUIRE(proxy.reload(configuration({shop.address()}, settings)).status() == 200);
  REQUIRE(is_in(visitor.visit()));  // with its ticket of before, for a pass of plain HTTP
  REQUIRE(visitor.jar().starts_with("spillway-sale=p"));
  const std::string plain = visitor.jar();
  visitor.carry(secure + "; " + plain);  // a browser has both
  CHECK(is_in(visitor.visit()));
  CHECK(visitor.poll().at("state") == "fulfilled");
  is_secure = true;
  REQUIRE(proxy.reload(configuration({shop.address()}, settings)).status() == 200);
  visitor.carry(plain);
  CHECK(visitor.visit().status() == 503);
}
