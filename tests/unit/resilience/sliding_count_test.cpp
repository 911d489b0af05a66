#include "resilience/sliding_count.hpp"

#include <doctest/doctest.h>

namespace spillway::resilience {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("old events leave a sliding count slice by slice") {
  SlidingCount count(seconds(10));
  const TimePoint start{seconds(1000)};
  for (int i = 0; i < 100; ++i) count.add(start + milliseconds(100 * i));
  CHECK(count.total(start + milliseconds(9'999)) == 100);
  CHECK(count.total(start + seconds(10)) == 90);
  CHECK(count.total(start + milliseconds(18'999)) == 10);
  CHECK(count.total(start + seconds(19)) == 0);
}

TEST_CASE("a steady stream is counted to a slice over any stretch of time") {
  SlidingCount count(seconds(10));
  TimePoint now{hours(-1)};
  for (int i = 0; i < 1'000'000; ++i) {
    now += milliseconds(10);
    count.add(now);
    if (i < 1000) continue;
    const std::uint64_t total = count.total(now);
    // Around the epoch two slices are one.
    if (total < 900 || total > (now < TimePoint(seconds(11)) ? 1100u : 1000u)) {
      FAIL("counted " << total << " after " << i);
    }
  }
}

TEST_CASE("a clock that goes back or jumps ahead keeps a sliding count right") {
  SlidingCount count(seconds(10));
  count.add(TimePoint(hours(2)));
  count.add(TimePoint(hours(1)));
  CHECK(count.total(TimePoint(hours(1))) == 2);
  CHECK(count.total(TimePoint(hours(2)) + seconds(9)) == 2);
  CHECK(count.total(kNever) == 0);
  count.add(kNever);
  CHECK(count.total(kNever) == 1);
  count.clear();
  CHECK(count.total(kNever) == 0);
}

TEST_CASE("what is taken back is one of the latest, and never more than there is") {
  SlidingCount count(seconds(10));
  count.take_back(TimePoint(seconds(1)));
  CHECK(count.total(TimePoint(seconds(1))) == 0);
  count.add(TimePoint(seconds(1)));
  count.add(TimePoint(seconds(4)));
  count.take_back(TimePoint(seconds(6)));
  CHECK(count.total(TimePoint(seconds(6))) == 1);
  CHECK_MESSAGE(count.total(TimePoint(seconds(11))) == 0, "that of second 1 was left");
  count.take_back(TimePoint(seconds(11)));
  CHECK(count.total(TimePoint(seconds(11))) == 0);
}

TEST_CASE("a window of no length counts the present moment") {
  SlidingCount count(Duration::zero());
  count.add(TimePoint(seconds(1)));
  CHECK(count.total(TimePoint(seconds(1))) == 1);
  CHECK(count.total(TimePoint(seconds(2))) == 0);
}

}  // namespace spillway::resilience
