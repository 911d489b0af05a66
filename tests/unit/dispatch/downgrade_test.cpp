// Requests that are late in their class's queue and move to the next lower one.
#include <doctest/doctest.h>

#include "dispatch/scheduler/scheduler.hpp"
#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// P0 may wait for 500 ms, P1 for 200, P2 for 100.
Desk downgrading(config::ExpirePolicy policy = config::ExpirePolicy::downgrade) {
  Desk desk;
  desk.settings.expire_policy = policy;
  desk.classes[0].max_wait = 500ms;
  desk.classes[1].max_wait = 200ms;
  desk.classes[2].max_wait = 100ms;
  return desk;
}

// Passes this much time, the queues being looked at as the workers do; the one that expires.
Waiter* wait_for(Desk& desk, Milliseconds time) {
  for (Milliseconds passed{0}; passed < time; passed += 10ms) {
    desk.pass(10ms);
    if (Waiter* expired = desk->expire(desk.now)) return expired;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a request late in its class's queue is downgraded once per class and then expires") {
  Desk desk = downgrading();
  desk.arrive(kP0);
  Waiter& waiter = desk.arrive(kP0, {.deadline = desk.now + 10s, .max_wait = 500ms});
  CHECK(wait_for(desk, 500ms) == nullptr);
  CHECK(waiter.state == Waiter::State::queued);
  CHECK(waiter.served_as == kP1);
  CHECK(desk->queued(kP0) == 0);
  CHECK(desk->queued(kP1) == 1);
  CHECK(wait_for(desk, 200ms) == nullptr);
  CHECK(desk->queued(kP2) == 1);
  CHECK(wait_for(desk, 90ms) == nullptr);
  CHECK(wait_for(desk, 10ms) == &waiter);
  CHECK(waiter.reason == Reason::queue_timeout);
  CHECK(waiter.waited == 800ms);
  CHECK(desk->queued() == 0);
  CHECK(desk->totals(kP0).downgraded == 1);
  CHECK(desk->totals(kP1).downgraded == 1);
  CHECK(desk->totals(kP2).downgraded == 0);
  CHECK(desk->totals(kP0).queue_timeout == 1);  // it remains a P0 request
  CHECK(desk->totals(kP0).enqueued == 1);

  Desk dropping = downgrading(config::ExpirePolicy::drop);
  dropping.arrive(kP0);
  dropping.arrive(kP0, {.deadline = dropping.now + 10s, .max_wait = 500ms});
  CHECK(wait_for(dropping, 500ms) != nullptr);
}

TEST_CASE("a downgraded request goes to the tail and takes the lower class's slots") {
  Desk desk = downgrading();
  desk.classes[1].max_inflight = 1;
  desk.arrive(kP0);
  Waiter& first = desk.arrive(kP0, {.max_wait = 30ms});
  Waiter& own = desk.arrive(kP1, {.max_wait = 300ms});
  CHECK(wait_for(desk, 30ms) == nullptr);
  Waiter& after = desk.arrive(kP1, {.max_wait = 300ms});
  CHECK(desk.release(kP0) == &own);
  CHECK(desk.release(own.served_as) == &first);
  CHECK(desk->running(kP1) == 1);
  CHECK(desk->running(kP0) == 0);
  CHECK(desk->totals(kP0).started == 2);
  CHECK(desk.release(first.served_as) == &after);
  CHECK(desk->running() == 1);
}

TEST_CASE("no request is downgraded beyond its deadline or room or the lower class's wait") {
  SUBCASE("its deadline ends the wait wherever it is") {
    Desk desk = downgrading();
    desk.arrive(kP0);
    Waiter& waiter = desk.arrive(kP0, {.deadline = desk.now + 600ms, .max_wait = 500ms});
    CHECK(wait_for(desk, 590ms) == nullptr);
    CHECK(wait_for(desk, 10ms) == &waiter);
    CHECK(waiter.reason == Reason::deadline_expired);
    CHECK(desk->totals(kP0).deadline_miss == 1);
  }
  SUBCASE("a deadline in its own queue is final") {
    Desk desk = downgrading();
    desk.arrive(kP0);
    Waiter& waiter = desk.arrive(kP0, {.deadline = desk.now + 100ms, .max_wait = 500ms});
    CHECK(wait_for(desk, 100ms) == &waiter);
    CHECK(desk->totals(kP0).downgraded == 0);
  }
  SUBCASE("a full queue") {
    Desk desk = downgrading();
    desk.classes[1].max_queue = 1;
    desk.arrive(kP0);
    Waiter& waiter = desk.arrive(kP0, {.max_wait = 30ms});
    desk.arrive(kP1, {.max_wait = 1s});
    CHECK(wait_for(desk, 30ms) == &waiter);
    CHECK(waiter.reason == Reason::queue_timeout);
  }
  SUBCASE("a wait predicted beyond the lower class's longest, but for its first waiter") {
    for (const bool has_waiter : {false, true}) {
      Desk desk = downgrading();
      desk.teach(110ms, kP0);
      desk.arrive(kP0);
      Waiter& waiter = desk.arrive(kP0, {.max_wait = 30ms});
      if (has_waiter) desk.arrive(kP1, {.max_wait = 5s});
      CHECK(wait_for(desk, 30ms) == (has_waiter ? &waiter : nullptr));
    }
  }
  SUBCASE("the lowest class") {
    Desk desk = downgrading();
    desk.arrive(kP0);
    Waiter& waiter = desk.arrive(kP2, {.max_wait = 100ms});
    CHECK(wait_for(desk, 100ms) == &waiter);
  }
}

TEST_CASE("a downgraded request is cancelled and evicted like any other of its queue") {
  Desk desk = downgrading();
  for (auto& c : desk.classes) c.max_queue = 2;
  desk.arrive(kP0);
  Waiter& leaving = desk.arrive(kP0, {.max_wait = 20ms});
  Waiter& evicted = desk.arrive(kP0, {.max_wait = 30ms});
  CHECK(wait_for(desk, 40ms) == nullptr);
  CHECK(desk->queued(kP1) == 2);
  CHECK(desk->cancel(leaving, desk.now));
  for (int i = 0; i < 3; ++i) desk.arrive(kP0);
  CHECK(desk.last.evicted == &evicted);
  CHECK(desk->totals(kP0).evicted == 1);
  CHECK(desk->totals(kP0).cancelled == 1);
}
