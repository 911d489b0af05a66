#include "bench/crowd/status.hpp"

#include <doctest/doctest.h>

#include "bench/crowd/script.hpp"
#include "bench/crowd/venue.hpp"

using namespace spillway;
using namespace spillway::crowd;

TEST_CASE("the status of a place is read") {
  const auto called = parse_status(R"({"state":"processing","claim_remaining_ms":1200})");
  REQUIRE(called);
  CHECK(called->state == "processing");
  CHECK(called->claim_remaining == Milliseconds(1200));
  CHECK(!parse_status(R"({"state":"waiting"})")->claim_remaining);
  for (const char* text : {"", "[]", "{}", R"({"state":1})"}) CHECK(!parse_status(text));
}

TEST_CASE("a page says its state, and is no waiting page otherwise") {
  CHECK(state_of_page(R"(<html lang="en" data-state="full">)") == "full");
  CHECK(state_of_page("<html>").empty());
}

TEST_CASE("fields of a response are read") {
  load::Response response;
  CHECK(!told_to_wait(response));
  CHECK(!cookie_of(response, "spillway-sale"));
  response.insert("Retry-After", "7");
  response.insert("Set-Cookie", "spillway-sale-2=other; Path=/");
  response.insert("Set-Cookie", "spillway-sale=abc; Path=/; HttpOnly");
  CHECK(told_to_wait(response) == std::chrono::seconds(7));
  CHECK(cookie_of(response, "spillway-sale") == "abc");
  response.set("Retry-After", "soon");
  CHECK(!told_to_wait(response));
}

TEST_CASE("the waiting room is read from the configuration, which has to say what is needed") {
  const auto venue = read_venue(R"({ // a comment
    "routes": [{ "name": "api", "match": { "path": "/api" } },
      { "name": "sale", "match": { "path": "/sale/**" },
        "waiting_room": { "active_sessions": 20, "claim_ms": 30000, "secure_cookie": false } }] })");
  REQUIRE(venue);
  CHECK(venue->room == "sale");
  CHECK(venue->page == "/sale");
  CHECK(venue->active_sessions == 20);
  CHECK(venue->claim == Milliseconds(30'000));
  CHECK(!read_venue(R"({"routes":[{"name":"sale","match":{"path":"/"},"waiting_room":{}}]})"));
  CHECK(!read_venue(R"({"routes":[{"name":"sale"}]})"));
  CHECK(!read_venue("nothing"));
}

TEST_CASE("a crowd has visitors of every manner, most of them polite, the same for the same seed") {
  std::size_t of[5] = {};
  for (std::size_t number = 0; number < 1000; ++number) {
    const Script script = script_of(number, 1);
    ++of[static_cast<std::size_t>(script.manner)];
    CHECK(script.looks > 0);
    CHECK(script_of(number, 1).pause == script.pause);
  }
  CHECK(of[static_cast<std::size_t>(Manner::polite)] > 500);
  for (const std::size_t manner : of) CHECK(manner > 20);
}
