#include "bench/load/slots.hpp"

#include <doctest/doctest.h>

using spillway::load::Slots;

TEST_CASE("slots are taken until none is free and then the line is first come first served") {
  Slots<int> slots(2);
  CHECK(slots.take(1));
  CHECK(slots.take(2));
  CHECK_FALSE(slots.take(3));
  CHECK_FALSE(slots.take(4));
  CHECK(slots.waiting() == 2);
  CHECK(slots.inside() == 4);
  CHECK_FALSE(slots.next().has_value());
  slots.give_back();
  CHECK(slots.next() == 3);
  CHECK_FALSE(slots.next().has_value());
  slots.give_back();
  CHECK(slots.next() == 4);
  CHECK(slots.waiting() == 0);
  CHECK(slots.inside() == 2);
  slots.give_back();
  slots.give_back();
  CHECK_FALSE(slots.next().has_value());
  CHECK(slots.inside() == 0);
  CHECK(slots.take(5));
}

TEST_CASE("the line has no end") {
  Slots<int> slots(1);
  CHECK(slots.take(0));
  for (int i = 1; i <= 100000; ++i) slots.take(i);
  CHECK(slots.waiting() == 100000);
  for (int i = 1; i <= 100000; ++i) {
    slots.give_back();
    REQUIRE(slots.next() == i);
  }
}

TEST_CASE("slots that are lost end with the work in them and slots that come back wake several") {
  Slots<int> slots(3);
  for (int i = 0; i < 6; ++i) slots.take(i);
  slots.resize(1);
  slots.give_back();
  slots.give_back();
  CHECK_FALSE(slots.next().has_value());  // one still runs
  CHECK_FALSE(slots.take(6));
  slots.give_back();
  CHECK(slots.next() == 3);
  CHECK_FALSE(slots.next().has_value());
  slots.resize(3);
  CHECK(slots.next() == 4);
  CHECK(slots.next() == 5);
  CHECK_FALSE(slots.next().has_value());
  CHECK(slots.waiting() == 1);
}
