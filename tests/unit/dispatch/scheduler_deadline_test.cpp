// Deadlines of answers: what a route usually takes counts besides the wait; and of clients: they
// end a wait, and do nothing else.
#include <doctest/doctest.h>

#include <array>
#include <vector>

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

// The places, in order of arrival, in the order in which they are served: first P2s and P1s, some
// of them in a hurry, then P0s.
std::vector<std::size_t> turns(config::Discipline discipline, const DueTime& hurried) {
  Desk desk;
  desk.settings.discipline = discipline;
  for (auto& each : desk.classes) each.max_wait = 1h;
  desk.arrive(kP1);
  const DueTime operators(desk.now + 1s);
  for (int round = 0; round < 4; ++round) {
    for (const ClassId id : {kP2, kP1, kP0}) {
      const bool is_hurried = id != kP0 && round % 2 == 0;
      desk.arrive(id, {.deadline = is_hurried ? hurried : operators, .cost = 1.0 + round});
      desk.pass(1ms);
    }
  }
  std::vector<std::size_t> order;
  ClassId running = kP1;
  while (const Waiter* const next = desk.release(running)) {
    running = next->served_as;
    std::size_t place = 0;
    while (&desk.waiters[place] != next) ++place;
    order.push_back(place);
    desk.pass(1ms);
  }
  return order;
}

}  // namespace

TEST_CASE("under no discipline does a client's own deadline move its request before others") {
  using Kind = config::Discipline;
  const TimePoint now = Desk().now;
  for (const Kind discipline :
       {Kind::pq, Kind::rr, Kind::wrr, Kind::drr, Kind::wfq, Kind::aging, Kind::edf}) {
    CAPTURE(index(discipline));
    const auto order = turns(discipline, DueTime(now + 1s));
    CHECK(order.size() == 12);
    CHECK(turns(discipline, DueTime(now + 1s, now + 200ms)) == order);
  }
  // Negative control: one that the operator gives does, and moves the first of them before every
  // P0.
  const auto order = turns(Kind::edf, DueTime(now + 200ms));
  CHECK(order != turns(Kind::edf, DueTime(now + 1s)));
  for (std::size_t turn = 0; turn < 2; ++turn) CHECK(order[turn] % 3 != 0);
}

TEST_CASE("the deadline of an answer moves nobody either if the client chose it") {
  for (const bool is_clients : {true, false}) {
    CAPTURE(is_clients);
    Desk desk;
    desk.settings.discipline = config::Discipline::edf;
    desk.arrive(kP1);
    const DueTime soon = is_clients ? DueTime(kNever, desk.now + 60ms) : DueTime(desk.now + 60ms);
    Waiter& hurried =
        desk.arrive(kP2, {.deadline = desk.now + 500ms, .answer_by = soon, .takes = 10ms});
    Waiter& top = desk.arrive(kP0, {.deadline = desk.now + 100ms});
    CHECK(desk.release(kP1) == (is_clients ? &top : &hurried));
    CHECK(hurried.deadline == desk.now + 50ms);  // it gives up as soon in both cases
  }
}

TEST_CASE("a deadline that the client chose is no miss of the proxy's") {
  for (const bool is_clients : {true, false}) {
    CAPTURE(is_clients);
    Desk desk;
    desk.arrive(kP0);
    const DueTime due = is_clients ? DueTime(desk.now + 500ms, desk.now + 20ms)
                                   : DueTime(desk.now + 20ms, desk.now + 500ms);
    Waiter& waiter = desk.arrive(kP0, {.deadline = due, .max_wait = 200ms});
    desk.pass(20ms);
    CHECK(desk->expire(desk.now) == &waiter);
    CHECK(waiter.reason == Reason::deadline_expired);
    CHECK(desk->totals(kP0).deadline_miss == (is_clients ? 0 : 1));
    CHECK(desk->totals(kP0).clients_miss == (is_clients ? 1 : 0));
  }
}

TEST_CASE("what comes after both deadlines is late for the operator, too") {
  Desk desk;
  const TimePoint passed = desk.now - 5ms;
  const Waiter& of_client = desk.arrive(kP1, {.deadline = {desk.now + 1s, passed}});
  CHECK(of_client.reason == Reason::deadline_expired);
  CHECK(of_client.by_clients_deadline);
  const Waiter& of_both = desk.arrive(kP1, {.deadline = {desk.now - 1ms, passed}});
  CHECK(of_both.reason == Reason::deadline_expired);
  CHECK_FALSE(of_both.by_clients_deadline);
}

TEST_CASE("late work that is only late for its client is tagged and no miss of the proxy's") {
  Desk desk;
  desk.settings.late = config::Late::process_with_tag;
  desk.arrive(kP1);
  Waiter& late = desk.arrive(kP1, {.deadline = DueTime(desk.now + 5s, desk.now + 50ms)});
  desk.pass(60ms);
  CHECK(desk.release(kP1) == &late);
  CHECK(late.late);
  CHECK(desk->totals(kP1).deadline_miss == 0);
  CHECK(desk->totals(kP1).clients_miss == 1);
}

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
