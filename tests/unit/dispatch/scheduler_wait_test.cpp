// Predictions on arrival, the work-conserving rule, deadlines.
#include <doctest/doctest.h>

#include <cmath>

#include "dispatch/scheduler/scheduler.hpp"
#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;
using Kind = Offer::Kind;

namespace {

Terms short_wait() {
  return {.short_wait = 20ms, .short_wait_reason = Reason::inflight_saturation};
}

}  // namespace

TEST_CASE("a deadline already passed is refused as expired") {
  Desk desk;
  const Waiter& waiter = desk.arrive(kP1, {.deadline = desk.now});
  CHECK(desk.last.kind == Kind::refused);
  CHECK(desk.last.reason == Reason::deadline_expired);
  CHECK(waiter.state == Waiter::State::idle);
  CHECK(desk->totals(kP1).expired == 1);
  CHECK(desk->running() == 0);
}

TEST_CASE("nothing is predicted before twenty slots came back") {
  Desk desk;
  for (int i = 0; i < 19; ++i) {
    desk.arrive(kP0);
    desk.release(kP0, 1s);
  }
  desk.arrive(kP0);
  for (int i = 0; i < 5; ++i) desk.arrive(kP0, {.max_wait = 10ms});
  CHECK(desk.last.kind == Kind::queued);
  CHECK_FALSE(desk.last.predicted_wait);
}

TEST_CASE("what is refused before a wait is predicted is told none") {
  Desk desk(1);
  desk.teach(20ms, kP2);
  desk.arrive(kP1, {.deadline = desk.now});
  REQUIRE(desk.last.reason == Reason::deadline_expired);
  CHECK_FALSE(desk.last.predicted_wait);
  desk.arrive(kP1);
  desk.arrive(kP1);
  desk.arrive(kP2, {.short_wait_reason = Reason::inflight_saturation, .gives_way = true});
  REQUIRE(desk.last.reason == Reason::inflight_saturation);
  CHECK_FALSE(desk.last.predicted_wait);
}

TEST_CASE("a predicted wait is the backlog over the rate of slots coming free") {
  Desk desk(4);
  desk.teach(20ms, kP1);  // four slots of 20 ms: one every 5 ms
  desk.arrive(kP1);
  CHECK(desk.last.predicted_wait == Duration{0});
  for (int i = 1; i < 4; ++i) desk.arrive(kP1);
  for (int i = 0; i < 10; ++i) desk.arrive(kP1);
  CHECK(to_milliseconds(*desk.last.predicted_wait) == doctest::Approx(50));
}

TEST_CASE("a class that recently took many turns counts though none of it waits just now") {
  Desk desk;
  desk.teach(20ms, kP0);
  desk.arrive(kP1);
  desk.arrive(kP1);
  desk.arrive(kP1);
  CHECK(*desk.last.predicted_wait > 45ms);  // 40 ms for P1's own turns
  for (int i = 0; i < 300; ++i) {
    desk.release(kP1, 20ms);
    desk.arrive(kP1);
  }
  CHECK(to_milliseconds(*desk.last.predicted_wait) == doctest::Approx(40).epsilon(0.02));
}

TEST_CASE("a wait predicted beyond deadline or longest wait is refused on arrival") {
  Desk desk;
  desk.teach(20ms, kP1);
  desk.arrive(kP1);
  for (int i = 0; i < 5; ++i) desk.arrive(kP1);
  desk.arrive(kP1, {.max_wait = 100ms});  // 120 ms to wait
  CHECK(desk.last.reason == Reason::queue_wait_risk);
  CHECK(to_milliseconds(*desk.last.predicted_wait) == doctest::Approx(120));
  desk.arrive(kP1, {.deadline = desk.now + 110ms});
  CHECK(desk.last.reason == Reason::queue_wait_risk);
  CHECK(desk->totals(kP1).wait_risk == 2);
  desk.arrive(kP1, {.max_wait = 130ms, .certainty = 0.9});  // 117 ms of them
  CHECK(desk.last.reason == Reason::queue_wait_risk);
  desk.arrive(kP1, {.deadline = desk.now + 130ms, .max_wait = 130ms});
  CHECK(desk.last.kind == Kind::queued);
}

TEST_CASE("late work is not refused for being late where it is processed with a tag") {
  Desk desk;
  desk.settings.late = config::Late::process_with_tag;
  desk.teach(20ms, kP1);
  for (int i = 0; i < 6; ++i) desk.arrive(kP1);
  desk.arrive(kP1, {.deadline = desk.now + 50ms, .max_wait = 10ms});
  CHECK(desk.last.kind == Kind::queued);
}

TEST_CASE("a class without a waiter may queue one however long it will take") {
  Desk desk;
  desk.teach(1s, kP0);
  desk.arrive(kP0);
  for (int i = 0; i < 50; ++i) desk.arrive(kP0);
  desk.arrive(kP2, {.max_wait = 100ms, .short_wait = 20ms});
  CHECK(desk.last.kind == Kind::queued);
  desk.arrive(kP2, {.max_wait = 100ms, .short_wait = 20ms});
  CHECK(desk.last.kind == Kind::refused);
}

TEST_CASE("a class whose waiters time out is still served when its share is due") {
  Desk desk;
  desk.teach(200ms, kP0);
  ClassId running = kP0;
  desk.arrive(kP0);
  int low = 0;
  for (int turn = 0; turn < 200; ++turn) {
    for (int i = 0; i < 2; ++i) desk.arrive(kP0);
    desk.arrive(kP2, {.max_wait = 100ms});  // hardly ever a turn within its longest wait
    desk.pass(101ms);
    while (desk->expire(desk.now) != nullptr) {
    }
    desk.arrive(kP2, {.max_wait = 100ms});
    desk.pass(99ms);
    running = desk.release(running, 200ms)->traffic_class;
    low += running == kP2 ? 1 : 0;
  }
  CHECK(low >= 200 / 9 - 2);  // weights 8 : 1
}

TEST_CASE("a stalled upstream that gives back no slots lengthens the prediction") {
  Desk desk(2);
  desk.teach(10ms, kP0);
  desk.arrive(kP0);
  desk.arrive(kP0);
  desk.arrive(kP0);
  desk.arrive(kP0);
  CHECK(to_milliseconds(*desk.last.predicted_wait) == doctest::Approx(10));
  desk.pass(3s);
  desk.arrive(kP0);
  CHECK(to_seconds(*desk.last.predicted_wait) == doctest::Approx(4.5));
}

TEST_CASE("one asking for a short wait is refused only with no slot and a waiter and a long wait") {
  SUBCASE("a free slot is taken whatever the prediction") {
    Desk desk;
    desk.teach(10s, kP2);
    desk.arrive(kP2, short_wait());
    CHECK(desk.last.kind == Kind::granted);
  }
  SUBCASE("the first waiter of its class queues") {
    Desk desk;
    desk.teach(10s, kP2);
    desk.arrive(kP0);
    desk.arrive(kP2, short_wait());
    CHECK(desk.last.kind == Kind::queued);
  }
  SUBCASE("behind a waiter it queues while the wait is short") {
    Desk desk(4);
    desk.teach(20ms, kP2);
    for (int i = 0; i < 4; ++i) desk.arrive(kP2);
    for (int i = 0; i < 3; ++i) desk.arrive(kP2, short_wait());
    CHECK(desk.last.kind == Kind::queued);
    CHECK(to_milliseconds(*desk.last.predicted_wait) == doctest::Approx(15));
  }
  SUBCASE("behind a waiter a long wait is refused with the given reason") {
    Desk desk(4);
    desk.teach(20ms, kP2);
    for (int i = 0; i < 4; ++i) desk.arrive(kP2);
    for (int i = 0; i < 5; ++i) desk.arrive(kP2, short_wait());
    CHECK(desk.last.kind == Kind::refused);
    CHECK(desk.last.reason == Reason::inflight_saturation);
    CHECK(desk->totals(kP2).not_short == 1);
    CHECK(desk->queued(kP2) == 4);
  }
  SUBCASE("how short is for each to say") {
    Desk desk(4);
    desk.teach(20ms, kP2);
    for (int i = 0; i < 4; ++i) desk.arrive(kP2);
    for (int i = 0; i < 8; ++i) desk.arrive(kP2);
    desk.arrive(kP2, {.short_wait = 30ms, .short_wait_reason = Reason::tenant_share});
    CHECK(desk.last.reason == Reason::tenant_share);  // 40 ms to wait
    desk.arrive(kP2, {.short_wait = 50ms, .short_wait_reason = Reason::tenant_share});
    CHECK(desk.last.kind == Kind::queued);
  }
  SUBCASE("without a prediction it queues") {
    Desk desk;
    desk.arrive(kP2);
    for (int i = 0; i < 50; ++i) desk.arrive(kP2, short_wait());
    CHECK(desk.last.kind == Kind::queued);
  }
}

TEST_CASE("a waiter expires at its longest wait or its deadline and not when a slot frees") {
  Desk desk;
  desk.arrive(kP1);
  Waiter& patient = desk.arrive(kP1, {.deadline = desk.now + 1s, .max_wait = 200ms});
  Waiter& hurried = desk.arrive(kP1, {.deadline = desk.now + 150ms, .max_wait = 200ms});
  desk.pass(149ms);
  CHECK(desk->expire(desk.now) == nullptr);
  desk.pass(1ms);
  CHECK(desk->expire(desk.now) == &hurried);
  CHECK(hurried.state == Waiter::State::expired);
  CHECK(hurried.reason == Reason::deadline_expired);
  CHECK(desk->expire(desk.now) == nullptr);
  desk.pass(50ms);
  CHECK(desk->expire(desk.now) == &patient);
  CHECK(patient.reason == Reason::queue_timeout);
  CHECK(patient.waited == 200ms);
  CHECK(desk->totals(kP1).deadline_miss == 1);
  CHECK(desk->totals(kP1).queue_timeout == 1);
  CHECK(desk.release(kP1) == nullptr);
  CHECK(desk->queued() == 0);
}

TEST_CASE("a waiter found late at the head is never started") {
  Desk desk;
  desk.arrive(kP1);
  Waiter& late = desk.arrive(kP1, {.max_wait = 50ms});
  Waiter& also_late = desk.arrive(kP1, {.max_wait = 60ms});
  Waiter& next = desk.arrive(kP1);
  desk.pass(60ms);
  CHECK(desk.release(kP1) == &next);
  CHECK(desk->queued() == 0);
  CHECK(desk->cancel(also_late, desk.now));  // its client left before it expired
  CHECK(desk->expire(desk.now) == &late);
  CHECK(desk->expire(desk.now) == nullptr);
  CHECK_FALSE(desk->cancel(late, desk.now));
  CHECK(desk->totals(kP1).queue_timeout == 1);
}

TEST_CASE("late work is started and tagged and counted with process_with_tag") {
  Desk desk;
  desk.settings.late = config::Late::process_with_tag;
  desk.arrive(kP1);
  Waiter& late = desk.arrive(kP1, {.deadline = desk.now + 50ms, .max_wait = 10ms});
  Waiter& in_time = desk.arrive(kP1, {.deadline = desk.now + 5s, .max_wait = 10ms});
  desk.pass(60ms);
  CHECK(desk->expire(desk.now) == nullptr);
  CHECK(desk.release(kP1) == &late);
  CHECK(late.late);
  CHECK(desk.release(kP1) == &in_time);
  CHECK_FALSE(in_time.late);
  CHECK(desk->totals(kP1).deadline_miss == 1);
}

TEST_CASE("the top class's weight rises to ten fold while it waits and falls after") {
  Desk desk(1);
  desk.settings.dynamic_weights = true;
  desk.teach(10ms, kP0);
  desk.arrive(kP0);
  for (int i = 0; i < 400; ++i) desk.arrive(kP0);
  for (int i = 0; i < 50; ++i) desk.arrive(kP2);
  int low = 0;
  ClassId running = kP0;
  for (int i = 0; i < 390; ++i) {
    desk.pass(10ms);
    running = desk.release(running)->traffic_class;
    low += running == kP2 ? 1 : 0;
    CHECK(desk->weight(kP0) <= 80);
  }
  CHECK(desk->weight(kP0) == 80);
  CHECK(low >= 2);   // no class starves
  CHECK(low <= 10);  // fixed 8 : 1 would serve 43
  while (desk->queued() > 0) {
    desk.pass(10ms);
    running = desk.release(running)->traffic_class;
  }
  desk.pass(4 * DynamicWeight::kHalving);
  desk.release(running);
  CHECK(desk->weight(kP0) == 8);
}

TEST_CASE("weights stay as configured without dynamic weights") {
  Desk desk;
  desk.teach(1s, kP0);
  desk.arrive(kP0);
  for (int i = 0; i < 100; ++i) {
    desk.pass(10ms);
    desk.arrive(kP0);
  }
  CHECK(desk->weight(kP0) == 8);
}

TEST_CASE("the wait can be predicted without a request") {
  Desk desk(4);
  CHECK(desk->predicted_wait(kP1, desk.now) == Duration{0});
  desk.teach(20ms, kP1);
  CHECK(*desk->mean_hold() == doctest::Approx(0.02));
  for (int i = 0; i < 4 + 9; ++i) desk.arrive(kP1);
  const auto predicted = desk->predicted_wait(kP1, desk.now);
  REQUIRE(predicted);
  desk.arrive(kP1);
  CHECK(*predicted == *desk.last.predicted_wait);
}

TEST_CASE("without twenty slots given back no wait is predicted for a request that must wait") {
  Desk desk;
  desk.arrive(kP1);
  CHECK_FALSE(desk->predicted_wait(kP1, desk.now));
  CHECK_FALSE(desk->mean_hold());
}
