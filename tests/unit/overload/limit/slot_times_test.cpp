#include "overload/limit/slot_times.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

// Requests of `held` seconds each, `at_work` at a time.
struct Course {
  SlotTimes times;

  void run(double at_work, double held, Duration time, LimitSample how = {}) {
    how.span = 100ms;
    how.slot_seconds = at_work * 0.1;
    how.admitted = how.released = at_work * 0.1 / held;
    if (how.succeeded == 0) how.succeeded = std::ceil(how.released);
    for (Duration passed{0}; passed < time; passed += 100ms) times.step(how);
  }
};

}  // namespace

TEST_CASE("the time without a queue is learned after five quiet seconds") {
  Course course;
  course.run(10, 0.1, 5s);
  CHECK(course.times.quiet() == 0);
  CHECK(course.times.has_queue());  // not known to have none
  course.run(10, 0.1, 1s);
  CHECK(course.times.quiet() == doctest::Approx(0.1));
  CHECK(*course.times.stretch() == doctest::Approx(1));
  CHECK_FALSE(course.times.has_queue());
}

TEST_CASE("it is not learned while requests wait, are refused, or clients leave") {
  for (const LimitSample& how : {LimitSample{.is_short = true}, LimitSample{.has_waiters = true},
                                 LimitSample{.answered = 0.5}}) {
    Course course;
    course.run(10, 0.1, 60s, how);
    CHECK(course.times.quiet() == 0);
  }
  // Nor what came before a shortage.
  Course course;
  for (int i = 0; i < 10; ++i) {
    course.run(10, 0.1, 4s);
    course.run(10, 0.1, 1s, {.is_short = true});
  }
  CHECK(course.times.quiet() == 0);
}

TEST_CASE("a queue at the upstream is seen, and the most that had none is remembered") {
  Course course;
  course.run(10, 0.1, 10s);
  course.run(30, 0.1, 10s);
  CHECK(course.times.most_unqueued() == doctest::Approx(30).epsilon(0.05));
  course.times.restart();
  CHECK_FALSE(course.times.stretch());
  course.run(60, 0.2, 10s, {.is_short = true});
  CHECK(*course.times.stretch() == doctest::Approx(2).epsilon(0.05));
  CHECK(course.times.has_queue());
  CHECK(course.times.most_unqueued() == doctest::Approx(30).epsilon(0.1));
}

TEST_CASE("the least time is that of twice as many requests as are at work, queued or not") {
  Course course;
  course.run(100, 0.5, 900ms, {.is_short = true});
  CHECK(course.times.least() == 0);
  course.run(100, 0.5, 300ms, {.is_short = true});
  CHECK(course.times.least() == doctest::Approx(0.5));
  CHECK(course.times.unqueued() == doctest::Approx(0.5));
  course.run(400, 2, 10s, {.is_short = true});
  CHECK(course.times.least() <= 0.6);
  course.run(100, 0.2, 2s, {.is_short = true});
  CHECK(course.times.least() <= 0.3);
  // At least a hundred requests, and a second.
  course.run(1, 0.02, 1s);
  CHECK(course.times.least() > 0.1);
  course.run(100, 0.002, 800ms);
  CHECK(course.times.least() > 0.1);
}

TEST_CASE(
    "a queue that grows while the limit does not bind is not taken for the time without one") {
  Course course;
  course.run(16, 0.25, 4s);
  for (int at_work = 17; at_work < 60; ++at_work) course.run(at_work, at_work / 64.0, 200ms);
  CHECK(course.times.quiet() > 0);
  CHECK(course.times.quiet() <= 0.29);
  CHECK(*course.times.stretch() > 2);
}

TEST_CASE("requests that fail at once say nothing of how long the others take") {
  Course course;
  course.run(50, 0.25, 10s);
  course.run(50, 0.002, 10s, {.succeeded = 1});
  CHECK(course.times.least() == doctest::Approx(0.25).epsilon(0.1));
  CHECK(course.times.quiet() == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("a step of the load does not make requests look shorter") {
  for (const Duration phase : {0s, 3s, 6s, 9s, 12s, 15s}) {
    CAPTURE(phase.count());
    Course course;
    course.run(30, 5, 60s + phase);                             // 6 a second
    for (double at_work = 30; at_work < 210; at_work += 3.6) {  // 42 a second, for 5 s
      course.times.step({.span = 100ms,
                         .slot_seconds = at_work * 0.1,
                         .succeeded = 1,
                         .admitted = 4.2,
                         .released = 0.6});
    }
    course.run(210, 5, 10s);
    CHECK(course.times.least() >= 0.78 * 5);  // below 0.73 it looks like a queue
  }
}

TEST_CASE("a crowd that ends together counts from its beginning") {
  Course course;
  course.run(50, 0.25, 10s);
  // 200 that began before: their slots are given back within a second, and none is taken.
  for (int left = 190; left >= 0; left -= 19) {
    course.times.step({.span = 100ms, .slot_seconds = left * 0.1, .succeeded = 19, .released = 19});
  }
  CHECK(course.times.least() >= 0.24);
}
