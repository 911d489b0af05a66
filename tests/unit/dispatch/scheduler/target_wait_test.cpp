#include "dispatch/scheduler/target_wait.hpp"

#include <doctest/doctest.h>

#include "unit/dispatch/desk.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// Ten slots, of which this part idles, for so many seconds.
struct Slots {
  TargetWait target;
  TimePoint now = TimePoint{} + 1h;
  double busy = 0;

  explicit Slots(Duration configured = 20ms, bool adapts = true)
      : target(configured, 400ms, adapts) {
    target.advance(busy, 10, now);
  }

  void pass(double idle, double seconds, bool refusing = true) {
    for (const TimePoint end = now + from_seconds(seconds); now < end;) {
      now += 10ms;
      busy += 10 * (1 - idle) * 0.01;
      if (refusing) target.refused();
      target.advance(busy, 10, now);
    }
  }
  double milliseconds() const { return to_milliseconds(target.target()); }
};

}  // namespace

TEST_CASE("the target wait rises while slots idle beside refusals and falls slowly while none do") {
  Slots slots;
  CHECK(slots.milliseconds() == 20);
  slots.pass(0.02, 1);
  const double risen = slots.milliseconds();
  CHECK(risen > 20 * 1.4);
  CHECK(risen < 20 * 1.6);
  CHECK(slots.target.idle_share().value() == doctest::Approx(0.02));
  slots.pass(0, 3);  // the share is smoothed
  const double highest = slots.milliseconds();
  slots.pass(0, 10);
  CHECK(slots.milliseconds() < highest);
  CHECK(slots.milliseconds() > 0.8 * highest);
  slots.pass(0, 300);
  CHECK(slots.milliseconds() == 5);
}

TEST_CASE("without refusals idle slots say nothing") {
  Slots slots;
  slots.pass(0.5, 10, false);
  CHECK(slots.milliseconds() == 20);
  CHECK_FALSE(slots.target.idle_share());
  slots.pass(0, 1);
  slots.pass(1, 10, false);
  CHECK(slots.target.idle_share().value() == doctest::Approx(0));
}

TEST_CASE("the target wait stays within its bounds and where it was configured if fixed") {
  Slots slots;
  slots.pass(0.3, 60);
  CHECK(slots.milliseconds() == 200);  // half of the longest wait
  Slots high(900ms), low(1ms), fixed(20ms, false);
  high.pass(0.3, 60);
  CHECK(high.milliseconds() == 900);
  low.pass(0, 60);
  CHECK(low.milliseconds() == 1);
  fixed.pass(0.3, 60);
  CHECK(fixed.milliseconds() == 20);
}

TEST_CASE("a clock that jumps ends one period") {
  Slots slots;
  slots.now += 1h;
  slots.target.refused();
  slots.target.advance(0, 10, slots.now);
  CHECK(slots.milliseconds() < 21);
}

TEST_CASE("a request queues up to the target wait but for half of its longest wait at most") {
  Desk desk(4);
  desk.teach(20ms, kP2);  // a slot comes free every 5 ms
  for (int i = 0; i < 4; ++i) desk.arrive(kP2);
  const Terms patient{.max_wait = 100ms,
                      .up_to_target_wait = true,
                      .short_wait_reason = Reason::inflight_saturation};
  for (int i = 0; i < 4; ++i) desk.arrive(kP2, patient);
  CHECK(desk.last.kind == Offer::Kind::queued);
  desk.arrive(kP2, patient);  // 25 ms to wait
  CHECK(desk.last.reason == Reason::inflight_saturation);
  Terms hurried = patient;
  hurried.max_wait = 30ms;
  desk->cancel(desk.waiters.back(), desk.now);
  desk.pass(1ms);
  desk.release(kP2);
  desk.arrive(kP2, hurried);  // 20 ms to wait, half of its longest is 15
  CHECK(desk.last.kind == Offer::Kind::refused);
  desk.arrive(kP2, patient);
  CHECK(desk.last.kind == Offer::Kind::queued);
}
