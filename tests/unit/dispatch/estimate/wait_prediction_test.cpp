#include "dispatch/estimate/wait_prediction.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {
const TimePoint kStart = TimePoint{} + 1h;
}

TEST_CASE("there is no mean hold time before twenty samples") {
  HoldTime hold;
  for (int i = 0; i < 19; ++i) hold.record(20ms, kStart);
  CHECK_FALSE(hold.mean());
  hold.record(20ms, kStart);
  CHECK(*hold.mean() == doctest::Approx(0.02));
}

TEST_CASE("the mean hold time follows a change within seconds at any rate") {
  for (const Duration gap : {Duration(100us), Duration(1ms), Duration(10ms), Duration(100ms)}) {
    HoldTime hold;
    TimePoint now = kStart;
    for (int i = 0; i < 2000; ++i) hold.record(20ms, now += gap);
    CHECK(*hold.mean() == doctest::Approx(0.02));
    const TimePoint changed = now;
    while (now < changed + 5s) hold.record(100ms, now += gap);
    CHECK(*hold.mean() > 0.09);
  }
}

TEST_CASE("an idle hour does not lose the mean and the next sample does not become it") {
  HoldTime hold;
  for (int i = 0; i < 1000; ++i) hold.record(20ms, kStart + i * 1ms);
  hold.record(2s, kStart + 1h);
  CHECK(*hold.mean() > 0.02);
  CHECK(*hold.mean() < 0.2);
}

TEST_CASE("a wait is turns at the rate at which slots come free") {
  CHECK(predict_wait({.turns = 8, .slots = 16}, 0.02) == doctest::Approx(0.01));
  // Its class holds all four slots it may: five of its own turns take longer than the rest.
  CHECK(predict_wait({.turns = 8, .slots = 16, .own_turns = 5, .own_slots = 4}, 0.02) ==
        doctest::Approx(0.025));
  // Two slots are its class's alone, whatever the others do.
  CHECK(predict_wait({.turns = 100, .slots = 16, .own_turns = 1, .reserved_slots = 2}, 0.02) ==
        doctest::Approx(0.01));
}
