#include "dispatch/discipline/recent_turns.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;

namespace {

constexpr ClassId kP0{0}, kP1{1}, kP2{2};

// P0 has three turns in four, P1 one.
RecentTurns three_in_four(int turns) {
  RecentTurns recent(3);
  for (int i = 0; i < turns; ++i) recent.record(i % 4 == 3 ? kP1 : kP0);
  return recent;
}

}  // namespace

TEST_CASE("parts follow the recent turns however many there were") {
  for (const int turns : {400, 4000, 100000}) {
    const RecentTurns recent = three_in_four(turns);
    CHECK(recent.part(0) == doctest::Approx(0.75).epsilon(0.02));
    CHECK(recent.part(1) == doctest::Approx(0.25).epsilon(0.02));
    CHECK(recent.part(2) == 0);
  }
}

TEST_CASE("a class takes what waits or its part and never more than it is allowed") {
  const RecentTurns recent = three_in_four(400);
  CHECK(recent.settle(1, {0, 5, 0}, {0, 3, 0}) == 4);  // three wait
  CHECK(recent.settle(1, {0, 2, 0}, {0, 3, 0}) == 3);  // two are allowed
  CHECK(recent.settle(1, {0, 5, 0}, {}) == doctest::Approx(1 / 0.75).epsilon(0.02));
}

TEST_CASE("turns settle where others have most of them") {
  const RecentTurns recent = three_in_four(400);
  // P2 has 40 turns before its own and the others continue to get nearly all: up to the allowance.
  CHECK(recent.settle(40, {1e6, 50, 0}, {}) == doctest::Approx(90 / 0.25).epsilon(0.05));
  CHECK(recent.settle(40, {1000, 50, 0}, {}) < 1090);
  RecentTurns alone(3);
  for (int i = 0; i < 1000; ++i) alone.record(kP0);
  CHECK(alone.settle(1, {700, 0, 0}, {}) < 702);
  CHECK(alone.settle(1, {0, 5, 5}, {}) == 1);
  alone.record(kP2);
  CHECK(alone.part(2) == doctest::Approx(1 / 64.0));
}

TEST_CASE("overtakers make it longer and at most 64 fold") {
  CHECK(RecentTurns::with_overtakers(3, 0) == 3);
  CHECK(RecentTurns::with_overtakers(3, 0.5) == 6);
  CHECK(RecentTurns::with_overtakers(3, 1.0) == doctest::Approx(192));
}
