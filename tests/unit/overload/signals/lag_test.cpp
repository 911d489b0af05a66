#include "overload/signals/lag.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {
const TimePoint kStart = TimePoint{} + 1h;
}

TEST_CASE("loop lag has no evidence before twenty timer periods") {
  LoopLag lag;
  for (int i = 0; i < 19; ++i) lag.record(0ms, 0ms, kStart + i * 10ms);
  CHECK_FALSE(lag.value(kStart + 190ms));
  lag.record(0ms, 0ms, kStart + 190ms);
  CHECK(lag.value(kStart + 190ms) == Duration{0});
}

TEST_CASE("a stalling loop is evidence although its timer seldom fires") {
  LoopLag lag;
  for (int i = 1; i <= 5; ++i) lag.record(90ms, 0ms, kStart + i * 100ms);
  CHECK(lag.value(kStart + 500ms) == 90ms);
}

TEST_CASE("loop lag is what nine of ten firings of the last second do not exceed") {
  LoopLag lag;
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) lag.record(i % 20 == 0 ? 80ms : 1ms, 0ms, now += 10ms);
  CHECK(lag.value(now) == 1ms);  // one in twenty
  for (int i = 0; i < 100; ++i) lag.record(i % 5 == 0 ? 80ms : 1ms, 0ms, now += 10ms);
  CHECK(lag.value(now) == 80ms);  // one in five
  for (int i = 0; i < 102; ++i) lag.record(-1ms, 0ms, now += 10ms);
  CHECK(lag.value(now) == 0ms);  // forgotten after a second
}

TEST_CASE("the wait of requests that have not begun is a lag although the timer is in time") {
  LoopLag lag;
  TimePoint now = kStart;
  for (int i = 0; i < 19; ++i) lag.record(0ms, 300ms, now += 10ms);
  CHECK_FALSE(lag.value(now));  // that they wait is no time watched
  lag.record(0ms, 320ms, now += 10ms);
  CHECK(lag.value(now) == 300ms);  // the least of the last 200 ms
  for (int i = 0; i < 19; ++i) lag.record(0ms, 320ms, now += 10ms);
  CHECK(lag.value(now) == 300ms);
  lag.record(0ms, 320ms, now += 10ms);
  CHECK(lag.value(now) == 320ms);
  lag.record(0ms, 0ms, now += 10ms);
  CHECK(lag.value(now) == 0ms);  // less is seen at once
  for (int i = 0; i < 100; ++i) lag.record(60ms, 40ms, now += 10ms);
  CHECK(lag.value(now) == 60ms);  // the larger of the two
  lag.record(60ms, 90ms, now += 500ms);
  CHECK(lag.value(now) == 90ms);  // the loop stood still: there is only the last one
}

TEST_CASE("the use of a loop is the part of the last second for which its thread ran") {
  LoopUse use;
  CHECK(use.value() == 0);
  TimePoint now = kStart;
  Duration ran{0};
  const auto pass = [&](double part, int times) {
    for (int i = 0; i < times; ++i) use.record(ran += from_seconds(0.05 * part), now += 50ms);
  };
  pass(0.6, 100);
  CHECK(use.value() == doctest::Approx(0.6).epsilon(0.01));
  pass(1, 20);
  CHECK(use.value() == doctest::Approx(0.6 + 0.4 * 0.63).epsilon(0.02));
  pass(1, 80);
  CHECK(use.value() > 0.99);
  pass(1.5, 20);  // the clocks differ
  CHECK(use.value() <= 1);
  use.record(ran, now += 10s);  // it stood still
  CHECK(use.value() < 0.01);
}
