// A visitor that is called and whose first response is a failure is in line again, at its place.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

// Answers so many requests with a status, and from then on "in".
struct FaultyShop {
  std::atomic<int> failures{0};
  std::atomic<int> status{500};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      const bool fails = failures > 0;
      if (fails) --failures;
      proxy.send("HTTP/1.1 " + std::to_string(fails ? status.load() : 200) +
                 " Said\r\nContent-Length: 2\r\n\r\nin");
    }
  }};
};

struct Entry {
  explicit Entry(json room = always(), json more = json::object())
      : proxy(shop.peer.address(), selling(std::move(room), std::move(more))) {
    first.join();
    second.join();
    REQUIRE(first.is_called());
  }
  std::uint64_t failed() const {
    return static_cast<std::uint64_t>(
        proxy.metric(R"(spillway_waiting_room_entries_failed_total{room="sale"})"));
  }

  FaultyShop shop;
  ProxyUnderTest proxy;
  Visitor first{proxy};
  Visitor second{proxy};
};

}  // namespace

TEST_CASE("a failure of the upstream gives its place back to who was called") {
  Entry entry;
  entry.shop.failures = 1;
  const std::string ticket = entry.first.jar();
  const Message failed = entry.first.visit();
  CHECK(failed.status() == 500);
  CHECK(failed.body == "in");
  CHECK_FALSE(failed.field("Set-Cookie"));  // it keeps its ticket
  CHECK(entry.first.jar() == ticket);
  CHECK(entry.failed() == 1);
  CHECK(entry.second.poll().value("ahead", -1) == 1);
  REQUIRE(entry.first.is_called());
  CHECK(is_in(entry.first.visit()));
  CHECK(entry.first.jar().starts_with("spillway-sale=p"));
  CHECK(is_in(entry.first.visit()));
  CHECK(entry.failed() == 1);
  CHECK(Operator{entry.proxy.admin_port()}.get("/rooms/sale").at("entries_failed") == 1);
}

TEST_CASE("what is no failure, and a failure of a later request, ends no session") {
  for (const int status : {404, 403, 302}) {
    CAPTURE(status);
    Entry entry;
    entry.shop.failures = 1;
    entry.shop.status = status;
    CHECK(entry.first.visit().status() == static_cast<unsigned>(status));
    CHECK(entry.first.jar().starts_with("spillway-sale=p"));
    CHECK(entry.failed() == 0);
  }
  Entry entry;
  REQUIRE(is_in(entry.first.visit()));
  entry.shop.failures = 1;
  CHECK(entry.first.visit().status() == 500);
  CHECK(is_in(entry.first.visit()));
  CHECK(entry.failed() == 0);
}

TEST_CASE("a failure of Spillway itself does the same, and the last attempt leaves it inside") {
  json room = always();
  room["attempts"] = 2;
  Entry entry(room);
  entry.shop.failures = 2;
  entry.shop.status = 503;
  CHECK(entry.first.visit().status() == 503);
  CHECK(entry.failed() == 1);
  REQUIRE(entry.first.is_called());
  CHECK(entry.first.visit().status() == 503);
  CHECK(entry.failed() == 1);
  CHECK(entry.first.jar().starts_with("spillway-sale=p"));
  CHECK(is_in(entry.first.visit()));

  // Nobody listens there.
  std::string nowhere;
  {
    const ScriptedPeer gone([](PeerConnection&) {});
    nowhere = gone.address();
  }
  ProxyUnderTest proxy(nowhere, selling(always()));
  Visitor visitor(proxy);
  visitor.join();
  REQUIRE(visitor.is_called());
  const Message failed = visitor.visit();
  CHECK(failed.status() >= 502);
  CHECK_FALSE(failed.field("Set-Cookie"));
  CHECK(visitor.poll().value("state", "") != "fulfilled");
  CHECK(proxy.metric(R"(spillway_waiting_room_entries_failed_total{room="sale"})") == 1);
}
