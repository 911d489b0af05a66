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
  std::atomic<const char*> fields{""};  // of the next response
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (proxy.read_request()) {
      const bool fails = failures > 0;
      if (fails) --failures;
      proxy.send("HTTP/1.1 " + std::to_string(fails ? status.load() : 200) +
                 " Said\r\nContent-Length: 2\r\n" + fields.exchange("") + "\r\nin");
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

TEST_CASE("a session that the upstream says is over makes room for the next visitor at once") {
  Entry entry;
  REQUIRE(is_in(entry.first.visit()));
  entry.shop.fields = "Spillway-Session: end\r\n";
  const Message last = entry.first.visit("/sale/paid");
  CHECK(is_in(last));
  CHECK_FALSE(last.field("Spillway-Session"));
  CHECK(last.field("Set-Cookie").value_or("").find("Max-Age=0") != std::string::npos);
  REQUIRE(entry.second.is_called());  // and not only after idle_ms, five minutes
  CHECK(is_in(entry.second.visit()));
  CHECK(entry.first.join().value("state", "") == "waiting");
  // Another word says nothing.
  entry.shop.fields = "Spillway-Session: over\r\n";
  CHECK(is_in(entry.second.visit()));
  CHECK(is_in(entry.second.visit()));
}

TEST_CASE("a session that ends with its first response makes room for the next visitor at once") {
  FaultyShop shop;
  const ProxyUnderTest proxy(shop.peer.address(), selling({{"active_sessions", 1}}));
  Visitor first{proxy}, second{proxy};
  SUBCASE("because the upstream says so") {
    shop.fields = "Spillway-Session: end\r\n";
    CHECK(is_in(first.visit()));
  }
  SUBCASE("because its visitor leaves") {
    CHECK(is_in(first.visit()));
    const std::string leave = "/_spillway/rooms/sale/leave";
    CHECK(first.ask("POST", leave, "Spillway-Leave: 1\r\nContent-Length: 0\r\n").status() == 204);
  }
  CHECK(is_in(second.visit()));
}

TEST_CASE("an entry that the upstream says it refused gives its place back") {
  Entry entry;
  const std::string ticket = entry.first.jar();
  entry.shop.fields = "Spillway-Session: refused\r\n";
  const Message refused = entry.first.visit();
  CHECK(refused.status() == 200);
  CHECK_FALSE(refused.field("Spillway-Session"));
  CHECK(entry.first.jar() == ticket);
  CHECK(entry.failed() == 1);
  REQUIRE(entry.first.is_called());
  CHECK(is_in(entry.first.visit()));
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

double forwarded_in(const ProxyUnderTest& proxy, const std::string& its_class) {
  return proxy.metric(R"(spillway_requests_total{route="sale",class=")" + its_class +
                      R"(",outcome="forwarded"})");
}

TEST_CASE("a pass raises no class of a path that may be that of another route") {
  Shop shop;
  nlohmann::json settings = selling({{"active_sessions", 1}, {"when", "always"}});
  settings["routes"].push_back(
      {{"name", "report"}, {"match", {{"path", "/sale/report/**"}}}, {"class", "P2"}});
  ProxyUnderTest proxy(shop.address(), settings);
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  CHECK(is_in(inside.visit()));
  const double before = forwarded_in(proxy, "P0");
  CHECK(before > 0);
  CHECK(is_in(inside.visit("/sale/REPORT/all")));  // to a backend that ignores capitals
  CHECK(forwarded_in(proxy, "P0") == before);
  CHECK(forwarded_in(proxy, "P2") == 1);
}

TEST_CASE("who was let in goes first, but a program that asks on and on only for a while") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), selling({{"active_sessions", 1}, {"when", "always"}}));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  const TimePoint begin = Clock::now();
  for (int n = 0; n < 1000; ++n) REQUIRE(is_in(inside.visit()));
  const double refilled = 20 * to_seconds(Clock::now() - begin) + 1;
  const auto forwarded = [&](const std::string& its_class) {
    return forwarded_in(proxy, its_class);
  };
  CHECK(forwarded("P0") >= 400);
  CHECK(forwarded("P0") <= 400 + refilled);
  CHECK(forwarded("P0") + forwarded("P1") == 1000);
}
