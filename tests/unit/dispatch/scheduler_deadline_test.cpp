// Deadlines of answers: what a route usually takes counts besides the wait.
#include <doctest/doctest.h>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// One slot, held for 10 ms at a time by P1, and `ahead` more waiters of P1.
struct Counter : Desk {
  explicit Counter(int ahead = 0) {
    teach(10ms, kP1);
    arrive(kP1);
    for (int i = 0; i < ahead; ++i) arrive(kP1);
  }
  Terms within(Duration left, Duration takes, Duration takes_at_least = 0ms) {
    return {.answer_by = now + left, .takes = takes, .takes_at_least = takes_at_least};
  }
};

}  // namespace

TEST_CASE("what cannot be answered in time even at its fastest does not get a free slot") {
  Counter desk;
  desk.release(kP1);
  desk.arrive(kP1, desk.within(15ms, 20ms, 16ms));
  CHECK(desk.last.kind == Offer::Kind::refused);
  CHECK(desk.last.reason == Reason::deadline_expired);
  CHECK(desk->totals(kP1).expired == 1);
  CHECK(desk->running() == 0);
  // It might be in time: a free slot is no one else's loss.
  desk.arrive(kP1, desk.within(15ms, 20ms, 5ms));
  CHECK(desk.last.kind == Offer::Kind::granted);
}

TEST_CASE("what must wait and cannot be answered in time is refused at once") {
  Counter desk;
  desk.arrive(kP1, desk.within(15ms, 20ms, 5ms));
  CHECK(desk.last.reason == Reason::deadline_expired);
  desk.arrive(kP1, desk.within(15ms, 0ms));  // negative control: nothing is known of its route
  CHECK(desk.last.kind == Offer::Kind::queued);
}

TEST_CASE("the predicted wait and the usual time together decide on arrival") {
  Counter desk(3);  // four turns of 10 ms before it
  desk.arrive(kP1, desk.within(60ms, 30ms));
  CHECK(desk.last.reason == Reason::queue_wait_risk);
  desk.arrive(kP1, desk.within(60ms, 0ms));  // negative control: the wait alone
  CHECK(desk.last.kind == Offer::Kind::queued);
  Counter other(3);
  other.arrive(kP1, other.within(60ms, 10ms));
  CHECK(other.last.kind == Offer::Kind::queued);
}

TEST_CASE("what has become hopeless in the queue is not started") {
  for (const Duration takes : {Duration(20ms), Duration(0ms)}) {
    CAPTURE(takes.count());
    Counter desk;
    Waiter& waiter = desk.arrive(kP1, desk.within(50ms, takes));
    REQUIRE(desk.last.kind == Offer::Kind::queued);
    desk.pass(31ms);
    Waiter* const next = desk.release(kP1);
    if (takes == 0ms) {  // negative control: its deadline has not passed
      CHECK(next == &waiter);
      continue;
    }
    CHECK(next == nullptr);
    CHECK(desk->expire(desk.now) == &waiter);
    CHECK(waiter.reason == Reason::deadline_expired);
    CHECK(desk->totals(kP1).deadline_miss == 1);
  }
}

TEST_CASE("where late requests are served and tagged the deadline of the answer refuses nothing") {
  Counter desk;
  desk.settings.late = config::Late::process_with_tag;
  desk.scheduler.reset();
  desk.teach(10ms, kP1);
  desk.arrive(kP1);
  desk.arrive(kP1, desk.within(15ms, 20ms, 20ms));
  CHECK(desk.last.kind == Offer::Kind::queued);
}
