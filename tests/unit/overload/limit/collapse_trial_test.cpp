// A collapse is tried: the limit goes down, and up again where that did not help.
#include "overload/limit/collapse_trial.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

using Act = CollapseTrial::Act;

// An upstream under a limit that the trial moves, a tick each 100 ms.
struct Course {
  CollapseTrial trial;
  std::uint32_t limit = 64;
  TimePoint now{};
  double carried = 0;
  int cuts = 0, given_back = 0;

  Act step(double at_work, double succeeded, double admitted, bool has_waiters = true) {
    carried += succeeded * 0.1;
    const auto whole = static_cast<std::uint32_t>(carried);
    carried -= whole;
    const LimitSample sample{.span = 100ms,
                             .slot_seconds = at_work * 0.1,
                             .succeeded = double(whole),
                             .has_waiters = has_waiters,
                             .admitted = admitted * 0.1};
    now += 100ms;
    trial.observe(sample);
    const Act act = trial.decide(sample, limit, 1, now);
    if (act == Act::cut) limit = static_cast<std::uint32_t>(trial.at_best()) + 1, ++cuts;
    if (act == Act::give_back) limit = static_cast<std::uint32_t>(trial.former()), ++given_back;
    return act;
  }
  void run(Duration time, double at_work, double succeeded, double admitted,
           bool has_waiters = true) {
    for (Duration passed{0}; passed < time; passed += 100ms)
      step(at_work, succeeded, admitted, has_waiters);
  }
  // More requests at work, of which fewer succeed: until the limit is cut.
  void collapse() {
    for (int n = 0; n < 30 && limit == 64; ++n) step(16, 2, 20);
  }
};

Course begun() {
  Course course;
  course.run(20s, 4, 20, 20, false);
  REQUIRE(course.limit == 64);
  return course;
}

}  // namespace

TEST_CASE("the limit stays down where as much is served again") {
  Course course = begun();
  course.collapse();
  CHECK(course.limit == 5);
  course.run(1s, 12, 10, 5);  // the requests above the limit go
  course.run(30s, 5, 20, 20);
  CHECK(course.cuts == 1);
  CHECK(course.given_back == 0);
  CHECK(course.limit == 5);
}

TEST_CASE(
    "it goes up again where fewer at work bring no more, and is not tried again for a while") {
  Course course = begun();
  course.collapse();
  REQUIRE(course.cuts == 1);
  const TimePoint cut = course.now;
  while (course.given_back == 0 && course.now - cut < 20s) course.step(5, 3, 3);
  CHECK(course.limit == 64);
  CHECK(course.now - cut <= 4s);
  const TimePoint back = course.now;
  while (course.cuts == 1 && course.now - back < 10min) course.step(30, 2, 20);
  CHECK(course.now - back >= 60s);
  // And in vain once more: twice as long.
  while (course.given_back == 1 && course.cuts == 2) course.step(5, 3, 3);
  const TimePoint again = course.now;
  while (course.cuts == 2 && course.now - again < 10min) course.step(30, 2, 20);
  CHECK(course.now - again >= 120s);
}

TEST_CASE("it goes up again where the requests above it do not end, since they are only long") {
  Course course = begun();
  course.collapse();
  const TimePoint cut = course.now;
  while (course.given_back == 0 && course.now - cut < 60s) course.step(40, 0, 0);
  CHECK(course.limit == 64);
  CHECK(course.now - cut <= 4s);
}

TEST_CASE("it waits for an upstream that thrashes to work them off") {
  Course course = begun();
  course.collapse();
  for (double left = 16; left > 5; left *= 0.985) course.step(left, 1, 0);  // seven seconds
  CHECK(course.given_back == 0);
  course.run(10s, 5, 20, 20);
  CHECK(course.limit == 5);
  CHECK(course.given_back == 0);
}

TEST_CASE("a low load after a trial is no reason to go up") {
  Course course = begun();
  course.collapse();
  course.run(10s, 1, 3, 3, false);
  CHECK(course.given_back == 0);
}

TEST_CASE("what passes within three ticks is not tried, nor where the limit cannot be lower") {
  Course course = begun();
  course.run(200ms, 16, 2, 20);
  course.run(10s, 4, 20, 20, false);
  CHECK(course.cuts == 0);
  Course low = begun();
  low.limit = 8;
  low.run(10s, 16, 2, 20);
  CHECK(low.cuts == 0);
}
