// Work that has time, and the slots that no client's request wants.
#include <doctest/doctest.h>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Terms with_time() {
  Terms terms;
  terms.in_background = true;
  terms.has_time = true;
  return terms;
}

// Gives the slot back; what waits in the background gets one only if no request does.
Waiter* next_after(Desk& desk, ClassId id, bool for_job = false) {
  Waiter* const next = desk->release(id, milliseconds(10), desk.now, for_job);
  return next != nullptr ? next : desk->next_in_background(desk.now);
}

}  // namespace

TEST_CASE("a job gets a free slot at once") {
  Desk desk(2);
  CHECK(desk.arrive(kP2, with_time()).state == Waiter::State::granted);
  CHECK(desk->running() == 1);
}

TEST_CASE("a job without a slot waits, for as long as it takes") {
  Desk desk(1);
  desk.arrive(kP0);
  Waiter& job = desk.arrive(kP2, with_time());
  CHECK(desk.last.kind == Offer::Kind::queued);
  desk.pass(std::chrono::hours(5));
  CHECK(desk->expire(desk.now) == nullptr);
  CHECK(job.state == Waiter::State::queued);
  CHECK(next_after(desk, kP0) == &job);
}

TEST_CASE("a request of any class goes before the job that came first") {
  for (const ClassId id : {kP0, kP1, kP2}) {
    Desk desk(1);
    desk.arrive(kP0);
    Waiter& job = desk.arrive(kP2, with_time());
    Waiter& request = desk.arrive(id);
    CHECK(next_after(desk, kP0) == &request);
    CHECK(job.state == Waiter::State::queued);
    CHECK(next_after(desk, id) == &job);
  }
}

TEST_CASE("jobs get slots in the order in which they came") {
  Desk desk(1);
  desk.arrive(kP0);
  Waiter& first = desk.arrive(kP2, with_time());
  Waiter& second = desk.arrive(kP2, with_time());
  CHECK(next_after(desk, kP0) == &first);
  CHECK(next_after(desk, kP2, true) == &second);
}

TEST_CASE("a job that goes first has the next slot of all jobs, after each request") {
  Desk desk(1);
  desk.arrive(kP0);
  Waiter& first = desk.arrive(kP2, with_time());
  Terms ahead = with_time();
  ahead.goes_first = true;
  Waiter& urgent = desk.arrive(kP2, ahead);
  Waiter& request = desk.arrive(kP2);
  CHECK(next_after(desk, kP0) == &request);
  CHECK(next_after(desk, kP2) == &urgent);
  CHECK(next_after(desk, kP2, true) == &first);
}

TEST_CASE("jobs leave the slots that are reserved for a class") {
  Desk desk(2);
  desk.classes[0].reserved = 1;
  CHECK(desk.arrive(kP2, with_time()).state == Waiter::State::granted);
  Waiter& second = desk.arrive(kP2, with_time());
  CHECK(second.state == Waiter::State::queued);
  CHECK(desk.arrive(kP0).state == Waiter::State::granted);
}

TEST_CASE("a job that is cancelled while it waits gets no slot") {
  Desk desk(1);
  desk.arrive(kP0);
  Waiter& job = desk.arrive(kP2, with_time());
  CHECK(desk->cancel(job, desk.now));
  CHECK(job.state == Waiter::State::idle);
  CHECK(next_after(desk, kP0) == nullptr);
}

TEST_CASE("jobs that wait are no queue of requests, and jobs that run are no load") {
  Desk desk(2);
  desk.arrive(kP2, with_time());
  desk.arrive(kP2, with_time());
  CHECK(desk.arrive(kP2, with_time()).state == Waiter::State::queued);
  CHECK(desk->queued() == 0);
  const double before = desk->busy_slot_seconds(desk.now);
  desk.pass(seconds(10));
  CHECK(desk->busy_slot_seconds(desk.now) == doctest::Approx(before));
  CHECK(desk->totals(kP2).started == 0);
  SUBCASE("the control: requests are") {
    Desk busy(2);
    busy.arrive(kP2);
    busy.arrive(kP2);
    busy.pass(seconds(10));
    CHECK(busy->busy_slot_seconds(busy.now) == doctest::Approx(20));
  }
}

TEST_CASE("a request beside jobs that hold all slots waits for the first that ends") {
  Desk desk(2);
  desk.arrive(kP2, with_time());
  desk.arrive(kP2, with_time());
  Waiter& request = desk.arrive(kP0);
  CHECK(request.state == Waiter::State::queued);
  CHECK(next_after(desk, kP2, true) == &request);
}

TEST_CASE("a revalidation does not overtake jobs that wait") {
  Desk desk(1);
  desk.arrive(kP2, with_time());
  Waiter& job = desk.arrive(kP2, with_time());
  Terms refresh;
  refresh.in_background = true;
  CHECK(desk.arrive(kP2, refresh).state == Waiter::State::idle);
  CHECK(next_after(desk, kP2, true) == &job);
}
