#include "dispatch/queue/deadline_wheel.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

struct Wheel {
  DeadlineWheel wheel;
  WheelList due;
  std::deque<Waiter> waiters;
  TimePoint start = TimePoint{} + 1h + 3ms;

  Waiter& file(Duration after, Duration at = 0ms) {
    Waiter& waiter = waiters.emplace_back();
    waiter.expires_at = start + after;
    wheel.insert(waiter, start + at);
    return waiter;
  }
  int due_at(Duration at) {
    int count = 0;
    wheel.collect(start + at, due);
    while (Waiter* waiter = due.pop_front()) {
      CHECK(waiter->expires_at <= start + at);
      ++count;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("a waiter is due at its time and not a moment before") {
  Wheel w;
  w.file(25ms);
  w.file(25ms + 1us);
  CHECK(w.due_at(10ms) == 0);
  CHECK(w.due_at(25ms - 1ns) == 0);
  CHECK(w.due_at(25ms) == 1);
  CHECK(w.due_at(25ms) == 0);
  CHECK(w.due_at(26ms) == 1);
}

TEST_CASE("one filed after its time is due at once") {
  Wheel w;
  CHECK(w.due_at(50ms) == 0);
  w.file(20ms, 50ms);
  CHECK(w.due_at(50ms) == 1);
  w.due_at(100ms);
  w.file(70ms, 100ms);
  CHECK(w.due_at(100ms) == 1);
}

TEST_CASE("times far beyond the horizon are kept") {
  Wheel w;
  for (int i = 0; i < 5; ++i) w.file(60s + i * 1ms);
  for (Duration t = 0ms; t < 60s; t += 10ms) REQUIRE(w.due_at(t) == 0);
  CHECK(w.due_at(60s + 2ms) == 3);
  CHECK(w.due_at(61s) == 2);
}

TEST_CASE("a pause longer than the wheel loses no waiter and delivers none early") {
  Wheel w;
  for (int i = 0; i < 100; ++i) w.file(i * 1s);
  CHECK(w.due_at(49s + 500ms) == 50);
  CHECK(w.due_at(1h) == 50);
}

TEST_CASE("a removed waiter never comes due") {
  Wheel w;
  Waiter& gone = w.file(20ms);
  w.file(20ms);
  gone.Hook<InDeadlineWheel>::unlink();
  CHECK(w.due_at(1s) == 1);
}

TEST_CASE("every waiter comes due exactly once whatever the rhythm") {
  Wheel w;
  Random random(9);
  int filed = 0, came = 0;
  Duration at{0};
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < 5; ++i, ++filed)
      w.file(at + from_seconds(12 * random.uniform() * random.uniform()), at);
    at += from_seconds(random.next() % 50 == 0 ? 8 * random.uniform() : 0.03 * random.uniform());
    came += w.due_at(at);
    for (const Waiter& waiter : w.waiters)
      if (round % 200 == 0 && waiter.Hook<InDeadlineWheel>::linked())
        REQUIRE(waiter.expires_at > w.start + at);
  }
  CHECK(came + w.due_at(at + 1h) == filed);
}
