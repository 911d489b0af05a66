// A waiting room that opens at an announced time, with places drawn by lot.
#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "base/sha256.hpp"
#include "base/time_text.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/sale.hpp"
#include "waiting/terms/start.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

json opening_in(Milliseconds time, const char* queueing) {
  const auto now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  return selling({{"active_sessions", 1},
                  {"opens_at", to_text(now + time)},
                  {"queueing", queueing},
                  {"poll", {{"min_ms", 1000}}}});
}

}  // namespace

TEST_CASE("places are drawn at the start, by a key that was committed to before") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), opening_in(Milliseconds(3000), "random_start"));
  const auto draw = [&] {
    RawClient client(proxy.port());
    const Message answer = client.ask("GET /_spillway/rooms/sale/draw HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(answer.status() == 200);
    return json::parse(answer.body);
  };
  Visitor one(proxy);
  Visitor other(proxy);
  const Message page = one.visit();
  CHECK(page.status() == 503);
  const json waiting = one.poll();
  CHECK(waiting.value("state", "") == "waiting");
  CHECK(waiting.value("why", "") == "lot");
  CHECK(waiting.value("begins_in_ms", 0) > 0);
  CHECK_FALSE(waiting.contains("position"));
  CHECK_FALSE(waiting.contains("ahead"));
  const json others = other.join();
  const std::string shown = one.visit().body;
  CHECK(shown.find("data-begins=\"\"") == std::string::npos);
  CHECK(shown.find("drawn by lot") != std::string::npos);
  const json before = draw();
  CHECK_FALSE(before.contains("key"));
  // The front of the line has events, and who is in front is not to be told.
  CHECK(one.ask("GET", "/_spillway/rooms/sale/events", "").status() == 409);

  json after = draw();
  for (const Deadline deadline(kPatience); !deadline.passed() && !after.contains("key");)
    after = draw();
  const auto key = parse_sha256(after.at("key").get<std::string>());
  REQUIRE(key);
  const std::string bytes(key->begin(), key->end());
  CHECK(to_text(sha256(bytes)) == before.at("commitment"));
  CHECK(after.at("commitment") == before.at("commitment"));
  const auto lot = [&](const json& status) {
    return waiting::lot_of(*key, *waiting::parse_ticket_id(status.at("id").get<std::string>()));
  };
  Visitor& first = lot(waiting) < lot(others) ? one : other;
  Visitor& second = &first == &one ? other : one;
  REQUIRE(first.is_called());
  CHECK(second.poll().value("position", 0) == 2);
  CHECK(is_in(first.visit()));
}

TEST_CASE("a paused waiting room shows no place before the draw") {
  const auto shows_place = [](const char* queueing) {
    Shop shop;
    ProxyUnderTest proxy(shop.address(), opening_in(std::chrono::hours(1), queueing));
    Visitor one(proxy);
    one.join();
    Operator{proxy.admin_port()}.post("/rooms/sale/pause");
    const json paused = one.poll();
    CHECK(paused.value("why", "") == "paused");
    const bool on_page = one.visit().body.find("<bdi id=\"number\">1<") != std::string::npos;
    CHECK(on_page == paused.contains("position"));
    CHECK(paused.contains("ahead") == paused.contains("position"));
    return paused.contains("position");
  };
  CHECK_FALSE(shows_place("random_start"));
  CHECK(shows_place("fifo"));
}

TEST_CASE("an event stream ends when the start is put off") {
  Shop shop;
  ProxyUnderTest proxy(
      configuration({shop.address()}, selling({{"active_sessions", 1}, {"when", "always"}})));
  Visitor inside(proxy);
  inside.join();
  REQUIRE(inside.is_called());
  REQUIRE(is_in(inside.visit()));
  Visitor one(proxy);
  CHECK(one.join().value("position", 0) == 1);
  one.client().send("GET /_spillway/rooms/sale/events HTTP/1.1\r\nHost: a\r\nCookie: " + one.jar() +
                    "\r\n\r\n");
  CHECK(one.client().read_head().status() == 200);
  const std::string open = R"(spillway_tunnels{kind="event_stream"})";
  CHECK(proxy.metric_becomes(open, 1));
  const json later = opening_in(std::chrono::hours(1), "random_start");
  CHECK(proxy.reload(configuration({shop.address()}, later)).status() == 200);
  CHECK(proxy.metric_becomes(open, 0));
}

TEST_CASE("without a draw the place is known before the start, and there is nothing to check") {
  Shop shop;
  ProxyUnderTest proxy(shop.address(), opening_in(std::chrono::hours(1), "fifo"));
  Visitor one(proxy);
  const json waiting = one.join();
  CHECK(waiting.value("why", "") == "early");
  CHECK(waiting.value("position", 0) == 1);
  CHECK(waiting.value("begins_in_ms", 0) > 3'500'000);
  CHECK(one.ask("GET", "/_spillway/rooms/sale/draw", "").status() == 404);
}
