#include "proxy_view.hpp"

#include <doctest/doctest.h>

using spillway::demo::parse_state;

TEST_CASE("the state of the first upstream is read") {
  const auto view = parse_state(R"({"upstreams":[
      {"name":"app","state":"OVERLOADED","reason":"INFLIGHT_SATURATION",
       "dispatch":{"inflight":16,"queued":{"P0":1,"P1":20,"P2":300}}},
      {"name":"other","state":"NORMAL"}]})");
  REQUIRE(view);
  CHECK(view->state == "OVERLOADED");
  CHECK(view->reason == "INFLIGHT_SATURATION");
  CHECK(view->inflight == 16);
  CHECK(view->queued == 321);
}

TEST_CASE("missing or strange members leave their part empty") {
  const auto view = parse_state(R"({"upstreams":[{"state":7,"reason":null,"dispatch":[]}]})");
  REQUIRE(view);
  CHECK(view->state.empty());
  CHECK(view->reason.empty());
  CHECK_FALSE(view->inflight.has_value());
  CHECK_FALSE(view->queued.has_value());
  CHECK(parse_state(R"({"upstreams":[{"dispatch":{"queued":12}}]})")->queued == 12);
  CHECK(parse_state(R"({"upstreams":[3]})").has_value());
}

TEST_CASE("the first waiting room is read; its sessions are those taken, used already or not") {
  const auto view = parse_state(R"({"upstreams":[{}],"waiting_rooms":[
      {"name":"sale","waiting":50,"processing":3,"active":17,"provisional":2},{"name":"b"}]})");
  REQUIRE(view);
  REQUIRE(view->room);
  CHECK(view->room->waiting == 50);
  CHECK(view->room->processing == 3);
  CHECK(view->room->sessions == 19);
  CHECK(!parse_state(R"({"upstreams":[{}],"waiting_rooms":[]})")->room);
  CHECK(!parse_state(R"({"upstreams":[{}],"waiting_rooms":[{"waiting":1}]})")->room);
}

TEST_CASE("text that is no state is no view") {
  for (const char* text :
       {"", "{", "null", "[]", "{}", R"({"upstreams":[]})", R"({"upstreams":{}})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_state(text).has_value());
  }
}
