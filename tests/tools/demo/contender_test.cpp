#include "contender.hpp"

#include <doctest/doctest.h>

using spillway::demo::parse_contender;

TEST_CASE("a run has a title and a target and perhaps an admin listener") {
  const auto bare = parse_contender("without Spillway=http://127.0.0.1:8080");
  REQUIRE(bare);
  CHECK(bare->title == "without Spillway");
  CHECK(bare->target.port() == 8080);
  CHECK_FALSE(bare->admin.has_value());
  const auto proxy = parse_contender("with=http://127.0.0.1:1,http://[::1]:2");
  REQUIRE(proxy);
  REQUIRE(proxy->admin);
  CHECK(proxy->admin->port() == 2);
}

TEST_CASE("a run without a title or against another machine is refused") {
  for (const std::string text :
       {"", "=", "a", "=http://127.0.0.1:1", "http://127.0.0.1:1", "a=", "a=http://192.0.2.1:80",
        "a=http://127.0.0.1:1,", "a=http://127.0.0.1:1,http://192.0.2.1:80",
        "a=http://127.0.0.1:1,http://127.0.0.1:2,http://127.0.0.1:3"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_contender(text).has_value());
  }
}
