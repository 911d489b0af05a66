// Whether a slot given back would serve a waiter of its class or a higher one: as release() then
// does.
#include <doctest/doctest.h>

#include <algorithm>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;

TEST_CASE("a slot serves waiters of its class and of higher ones but of no lower one") {
  Desk desk(3);
  desk.arrive(kP0);
  desk.arrive(kP1);
  desk.arrive(kP2);
  CHECK_FALSE(desk->would_serve(kP1));  // none waits
  desk.arrive(kP1);
  CHECK(desk->would_serve(kP1));
  CHECK(desk->would_serve(kP2));
  CHECK_FALSE(desk->would_serve(kP0));
}

TEST_CASE("a waiter that its class's cap keeps out is served by a slot of that class only") {
  Desk desk(8);
  desk.classes[1].max_inflight = 2;
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  desk.arrive(kP2);
  CHECK_FALSE(desk->would_serve(kP2));
  CHECK(desk->would_serve(kP1));
}

TEST_CASE("a waiter that reserved slots keep out is not served by one of them") {
  Desk desk(4);
  desk.classes[2].reserved = 2;
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  desk.arrive(kP2);
  desk.arrive(kP2);
  CHECK_FALSE(desk->would_serve(kP2));  // it would be kept for P2
  CHECK(desk->would_serve(kP1));
  CHECK(desk.release(kP2) == nullptr);
  CHECK(desk.release(kP1) != nullptr);
}

TEST_CASE("over a lowered limit no slot that is given back serves a waiter") {
  Desk desk(4);
  for (int i = 0; i < 5; ++i) desk.arrive(kP1);
  CHECK(desk->would_serve(kP1));
  desk->share_slots(2, 0, true);
  CHECK_FALSE(desk->would_serve(kP1));
}
