// How often a ticket may be asked after.
#include "waiting/room/poll_limit.hpp"

#include <doctest/doctest.h>

namespace spillway::waiting {
namespace {

// Of so many polls, each `gap` after the one before, those that pass.
int passed(PollLimit& limit, int polls, Milliseconds gap, Milliseconds told) {
  int count = 0;
  for (int n = 0; n < polls; ++n) {
    limit.pass(gap, told);
    count += limit.take() ? 1 : 0;
  }
  return count;
}

constexpr Milliseconds kTold{5000};

}  // namespace

TEST_CASE("thirty polls pass at once, and then ten in each interval that was told") {
  PollLimit limit;
  CHECK(passed(limit, 1000, Milliseconds(0), kTold) == 30);
  // A poll each millisecond for 50 s.
  const int later = passed(limit, 50'000, Milliseconds(1), kTold);
  CHECK(later >= 99);
  CHECK(later <= 100);
}

TEST_CASE("whoever asks up to ten times as often as it was told is never refused") {
  for (const std::int64_t told : {1'000, 5'000, 30'000, 3'600'000}) {
    CAPTURE(told);
    PollLimit limit;
    CHECK(passed(limit, 2000, Milliseconds(told / 10), Milliseconds(told)) == 2000);
    PollLimit faster;
    CHECK(passed(faster, 2000, Milliseconds(told / 20), Milliseconds(told)) < 1100);
  }
}

TEST_CASE("a refused poll costs nothing, and after three intervals all is as at first") {
  PollLimit limit;
  passed(limit, 100'000, Milliseconds(0), kTold);
  limit.pass(kTold / 10, kTold);
  CHECK(limit.take());
  CHECK_FALSE(limit.take());
  limit.pass(3 * kTold, kTold);
  CHECK(passed(limit, 100, Milliseconds(0), kTold) == 30);
}

TEST_CASE("any time and any interval are taken") {
  PollLimit limit;
  passed(limit, 100, Milliseconds(0), kTold);
  limit.pass(Milliseconds(-1), kTold);
  CHECK_FALSE(limit.take());
  limit.pass(Milliseconds(INT64_MAX / 100), kTold);
  CHECK(limit.take());
  limit.pass(Milliseconds(0), Milliseconds(0));
  CHECK(passed(limit, 100, Milliseconds(0), kTold) == 30);
}

TEST_CASE("where nothing was told yet all polls pass, whatever the clock says") {
  PollLimit limit;
  CHECK(passed(limit, 100, Milliseconds(-1), Milliseconds(0)) == 100);
  CHECK(passed(limit, 100, Milliseconds(1), Milliseconds(0)) == 100);
}

}  // namespace spillway::waiting
