#include "dispatch/scheduler/dynamic_weight.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

TEST_CASE("the boost rises while the target is exceeded and never beyond its maximum") {
  DynamicWeight weight(20ms);
  TimePoint now = TimePoint{} + 1h;
  double boost = 1;
  for (int i = 0; i < 5; ++i) boost = weight.update(21ms, now += 10ms);
  CHECK(boost == doctest::Approx(2).epsilon(0.01));
  for (int i = 0; i < 1000; ++i) {
    boost = weight.update(10s, now += 10ms);
    CHECK(boost <= DynamicWeight::kMaxBoost);
  }
  CHECK(boost == DynamicWeight::kMaxBoost);
}

TEST_CASE("the boost decays to one and a pause counts as time") {
  DynamicWeight weight(20ms);
  TimePoint now = TimePoint{} + 1h;
  for (int i = 0; i < 100; ++i) weight.update(1s, now += 10ms);
  const double halved = weight.update(20ms, now += DynamicWeight::kHalving);
  CHECK(halved == doctest::Approx(DynamicWeight::kMaxBoost / 2));
  CHECK(weight.update(0ms, now += 1min) == 1);
}

TEST_CASE("after a pause the boost does not jump") {
  DynamicWeight weight(20ms);
  const TimePoint now = TimePoint{} + 1h;
  weight.update(0ms, now);
  CHECK(weight.update(1s, now + 1h) <= 4);
}

TEST_CASE("the boost is due every ten milliseconds") {
  DynamicWeight weight(20ms);
  const TimePoint now = TimePoint{} + 1h;
  CHECK(weight.due(now));
  weight.update(0ms, now);
  CHECK_FALSE(weight.due(now + 9ms));
  CHECK(weight.due(now + 10ms));
}

TEST_CASE("the boost stays between one and its maximum whatever the prediction") {
  DynamicWeight weight(20ms);
  Random random(3);
  TimePoint now = TimePoint{} + 100000h;
  const Duration predictions[] = {Duration::min(), -1s, 0ms, 20ms, 21ms, 1h, Duration::max()};
  const Duration steps[] = {-1000h, -1ms, 0ms, 1ns, 10ms, 1s, 1000h};
  double least = DynamicWeight::kMaxBoost, most = 1;
  for (int i = 0; i < 10000; ++i) {
    const double boost =
        weight.update(predictions[random.next() % 7], now += steps[random.next() % 7]);
    REQUIRE(boost >= 1);
    REQUIRE(boost <= DynamicWeight::kMaxBoost);
    least = std::min(least, boost);
    most = std::max(most, boost);
  }
  CHECK(least == 1);
  CHECK(most == DynamicWeight::kMaxBoost);
}
