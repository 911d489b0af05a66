#include "overload/limit/dither_turns.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

TEST_CASE("turns begin at multiples of their length since the epoch, the odd ones high") {
  const DitherTurns turns;
  REQUIRE(turns.length() == 600ms);
  CHECK_FALSE(turns.is_high_at(0ms));
  CHECK_FALSE(turns.is_high_at(599ms));
  CHECK(turns.is_high_at(600ms));
  CHECK(turns.is_high_at(1199ms));
  CHECK_FALSE(turns.is_high_at(1200ms));
  const Duration today = 20784 * 24h;
  CHECK(turns.is_high_at(today + 600ms) != turns.is_high_at(today));
  CHECK(turns.is_high_at(today + 1200ms) == turns.is_high_at(today));
}

TEST_CASE("a turn is longer than two slots are held, and a longer one is three times as long") {
  DitherTurns turns;
  turns.fit(0.02, 100ms);
  CHECK(turns.length() == 600ms);
  turns.fit(0.2, 100ms);
  CHECK(turns.length() == 1800ms);
  turns.fit(0.2, 100ms);
  CHECK(turns.length() == 1800ms);
  turns.fit(0.15, 100ms);  // a bit less does not change it back
  CHECK(turns.length() == 1800ms);
  turns.fit(0.02, 100ms);
  CHECK(turns.length() == 600ms);
}

TEST_CASE("however long slots seem to be held, a turn grows by one step, and to 5.4 s at most") {
  DitherTurns turns;
  turns.fit(1000, 100ms);
  CHECK(turns.length() == 1800ms);
  turns.fit(1000, 100ms);
  turns.fit(1000, 100ms);
  CHECK(turns.length() == 5400ms);
  turns.fit(0.02, 100ms);
  CHECK(turns.length() == 600ms);
}

TEST_CASE("a turn is at least four ticks long") {
  DitherTurns turns;
  turns.fit(0.02, 1s);
  CHECK(turns.length() == 5400ms);
  turns.fit(0.02, 10s);
  CHECK(turns.length() >= 40s);
}

TEST_CASE("turns are shared unless slots are held for seconds") {
  DitherTurns turns;
  CHECK(turns.are_shared());
  turns.fit(2, 100ms);
  CHECK(turns.are_shared());
  turns.fit(3, 100ms);
  CHECK_FALSE(turns.are_shared());
  turns.fit(0.5, 100ms);
  CHECK(turns.are_shared());
  turns.fit(0.5, 10s);
  CHECK(turns.are_shared());
}
