#include "slots.hpp"

#include <doctest/doctest.h>

using spillway::demo::Slots;

TEST_CASE("slots are taken until none is free and then the line is first come first served") {
  Slots<int> slots(2);
  CHECK(slots.take(1));
  CHECK(slots.take(2));
  CHECK_FALSE(slots.take(3));
  CHECK_FALSE(slots.take(4));
  CHECK(slots.waiting() == 2);
  CHECK(slots.inside() == 4);
  CHECK(slots.give_back() == 3);
  CHECK(slots.give_back() == 4);
  CHECK(slots.waiting() == 0);
  CHECK(slots.inside() == 2);
  CHECK_FALSE(slots.give_back().has_value());
  CHECK_FALSE(slots.give_back().has_value());
  CHECK(slots.inside() == 0);
  CHECK(slots.take(5));
}

TEST_CASE("the line has no end") {
  Slots<int> slots(1);
  CHECK(slots.take(0));
  for (int i = 1; i <= 100000; ++i) slots.take(i);
  CHECK(slots.waiting() == 100000);
  for (int i = 1; i <= 100000; ++i) REQUIRE(slots.give_back() == i);
}
