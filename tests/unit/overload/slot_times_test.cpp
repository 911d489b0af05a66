#include "overload/slot_times.hpp"

#include <doctest/doctest.h>

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
    how.released = at_work * 0.1 / held;
    how.succeeded = static_cast<std::uint32_t>(how.released);
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
  course.run(10, 0.5, 900ms, {.is_short = true});
  CHECK(course.times.least() == 0);
  course.run(10, 0.5, 300ms, {.is_short = true});
  CHECK(course.times.least() == doctest::Approx(0.5));
  course.run(40, 2, 10s, {.is_short = true});
  CHECK(course.times.least() <= 0.6);
  course.run(10, 0.2, 2s, {.is_short = true});
  CHECK(course.times.least() <= 0.3);
}
