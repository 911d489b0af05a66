// For whom a slot would be if it were given back: as release() then does.
#include <doctest/doctest.h>

#include <algorithm>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;

namespace {

constexpr auto kNobody = WouldServe::nobody;
constexpr auto kLower = WouldServe::lower_class;
constexpr auto kSameOrHigher = WouldServe::same_or_higher;

}  // namespace

TEST_CASE("a slot serves waiters of its class and of higher ones, and is known to serve lower") {
  Desk desk(3);
  desk.arrive(kP0);
  desk.arrive(kP1);
  desk.arrive(kP2);
  CHECK(desk->would_serve({kP1}) == kNobody);  // none waits
  desk.arrive(kP1);
  CHECK(desk->would_serve({kP1}) == kSameOrHigher);
  CHECK(desk->would_serve({kP2}) == kSameOrHigher);
  CHECK(desk->would_serve({kP0}) == kLower);
  desk.arrive(kP0);
  CHECK(desk->would_serve({kP0}) == kSameOrHigher);
}

TEST_CASE("a waiter that its class's cap keeps out is served by a slot of that class only") {
  Desk desk(8);
  desk.classes[1].max_inflight = 2;
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  desk.arrive(kP0);
  desk.arrive(kP2);
  CHECK(desk->would_serve({kP2}) == kNobody);
  CHECK(desk->would_serve({kP0}) == kNobody);
  CHECK(desk->would_serve({kP1}) == kSameOrHigher);
}

TEST_CASE("a waiter that reserved slots keep out is not served by one of them") {
  Desk desk(4);
  desk.classes[2].reserved = 2;
  for (int i = 0; i < 3; ++i) desk.arrive(kP1);
  desk.arrive(kP2);
  desk.arrive(kP2);
  CHECK(desk->would_serve({kP2}) == kNobody);  // it would be kept for P2
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 2}) == kNobody);
  CHECK(desk->would_serve({kP1}) == kSameOrHigher);
  CHECK(desk.release(kP2) == nullptr);
  CHECK(desk.release(kP1) != nullptr);
}

TEST_CASE("a slot of another scheduler is none of those reserved here") {
  Desk desk(4);
  desk->share_slots(4, 4, Scheduler::Reserved::kept);  // all are held elsewhere
  desk.arrive(kP0);
  CHECK(desk->would_serve({.served_as = kP2, .is_elsewhere = true}) == kSameOrHigher);
  CHECK(desk->would_serve({.served_as = kP0, .is_elsewhere = true}) == kSameOrHigher);
}

TEST_CASE("over a lowered limit as many slots serve a waiter as exceed it, and one") {
  Desk desk(4);
  for (int i = 0; i < 4; ++i) desk.arrive(kP2);
  desk->share_slots(2, 0, Scheduler::Reserved::kept);
  desk.arrive(kP0);
  CHECK(desk->would_serve({kP2}) == kNobody);
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 2}) == kNobody);
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 3}) == kSameOrHigher);
  CHECK(desk.release(kP2) == nullptr);
  CHECK(desk.release(kP2) == nullptr);
  CHECK(desk->would_serve({kP2}) == kSameOrHigher);  // the last one suffices alone
  CHECK(desk.release(kP2) != nullptr);
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 3}) == kNobody);
}

TEST_CASE("the same with slots that are kept for another class") {
  Desk desk(6);
  desk.classes[1].reserved = 1;
  for (int i = 0; i < 5; ++i) desk.arrive(kP2);
  desk->share_slots(3, 0, Scheduler::Reserved::kept);  // two of them for P2
  desk.arrive(kP0);
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 3}) == kNobody);
  CHECK(desk->would_serve({.served_as = kP2, .can_follow = 4}) == kSameOrHigher);
  for (int i = 0; i < 3; ++i) CHECK(desk.release(kP2) == nullptr);
  CHECK(desk.release(kP2) != nullptr);
}
