#include "overload/lag.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {
const TimePoint kStart = TimePoint{} + 1h;
}

TEST_CASE("loop lag has no evidence before twenty timer periods") {
  LoopLag lag;
  for (int i = 0; i < 19; ++i) lag.record(0ms, kStart + i * 10ms);
  CHECK_FALSE(lag.p90(kStart + 190ms));
  lag.record(0ms, kStart + 190ms);
  CHECK(lag.p90(kStart + 190ms) == Duration{0});
}

TEST_CASE("a stalling loop is evidence although its timer seldom fires") {
  LoopLag lag;
  for (int i = 1; i <= 5; ++i) lag.record(90ms, kStart + i * 100ms);
  CHECK(lag.p90(kStart + 500ms) == 90ms);
}

TEST_CASE("loop lag is what nine of ten firings of the last second do not exceed") {
  LoopLag lag;
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) lag.record(i % 20 == 0 ? 80ms : 1ms, now += 10ms);
  CHECK(lag.p90(now) == 1ms);  // one in twenty
  for (int i = 0; i < 100; ++i) lag.record(i % 5 == 0 ? 80ms : 1ms, now += 10ms);
  CHECK(lag.p90(now) == 80ms);  // one in five
  for (int i = 0; i < 102; ++i) lag.record(-1ms, now += 10ms);
  CHECK(lag.p90(now) == 0ms);  // forgotten after a second
}
