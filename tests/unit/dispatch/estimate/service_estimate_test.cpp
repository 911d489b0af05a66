#include "dispatch/estimate/service_estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

namespace spillway::dispatch {
namespace {

using namespace std::chrono_literals;
constexpr RouteId kRoute{0}, kOther{1};

// Of the next 1018, in milliseconds.
double mean(ServiceEstimate& estimate) {
  double sum = 0;
  for (int i = 0; i < 1018; ++i) sum += to_milliseconds(*estimate.next(kRoute));
  return sum / 1018;
}

}  // namespace

TEST_CASE("nothing is known before the first request") {
  ServiceEstimate estimate(2);
  CHECK_FALSE(estimate.next(kRoute).has_value());
  estimate.record(kRoute, 100ms, 1, 4);
  CHECK(estimate.next(kRoute) == Duration(100ms));
  CHECK(estimate.next(kOther) == Duration(100ms));
}

TEST_CASE("quiet times have their mean and vary as they did") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, i % 2 == 0 ? 50ms : 150ms, 2, 4);
  CHECK(mean(estimate) == doctest::Approx(100).epsilon(0.02));
  const Duration one = *estimate.next(kRoute), two = *estimate.next(kRoute);
  CHECK(std::max(one, two) > 140ms);
  CHECK(std::min(one, two) < 60ms);
}

TEST_CASE("of a crowd that only waits the time alone is told") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 100; ++i) estimate.record(kRoute, 400ms, 16, 4);
  CHECK(mean(estimate) == doctest::Approx(100));
}

// Of the last 509, which say how they vary, fewer take long than of all.
TEST_CASE("the times that vary have the mean of all") {
  ServiceEstimate estimate(1);
  double sum = 0;
  for (int i = 0; i < 1400; ++i) {
    const Duration taken = i % 97 == 96 && i < 1000 ? 1000ms : 100ms;
    sum += to_milliseconds(taken);
    estimate.record(kRoute, taken, 2, 4);
  }
  CHECK(mean(estimate) == doctest::Approx(sum / 1400).epsilon(0.005));
}

TEST_CASE("of a crowd all are remembered, not only the last") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 400ms, 16, 4);
  for (int i = 0; i < 64; ++i) estimate.record(kRoute, 440ms, 16, 4);
  CHECK(mean(estimate) == doctest::Approx(100).epsilon(0.01));
}

// Below it requests take longer and longer, so that the mean of all of them says too little.
TEST_CASE("of a number that is too high the time at the number is told") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 100ms + 1ms * (i % 80), 4, 8);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 320ms, 16, 8);
  CHECK(mean(estimate) == doctest::Approx(160).epsilon(0.02));
}

TEST_CASE("an upstream with room beyond the slots takes no less time for a crowd") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 100ms, 2, 4);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 100ms, 8, 4);
  CHECK(mean(estimate) == doctest::Approx(100).epsilon(0.02));
}

TEST_CASE("an upstream that has become slower takes longer until it is quiet again") {
  ServiceEstimate estimate(1);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 100ms, 2, 4);
  for (int i = 0; i < 1000; ++i) estimate.record(kRoute, 1600ms, 16, 4);
  CHECK(mean(estimate) == doctest::Approx(400).epsilon(0.02));
  for (int i = 0; i < 100; ++i) estimate.record(kRoute, 100ms, 2, 4);
  CHECK(mean(estimate) == doctest::Approx(100).epsilon(0.02));
}

}  // namespace spillway::dispatch
