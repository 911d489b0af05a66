#include "dispatch/estimate/route_cost.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {
constexpr RouteId kHome{0}, kReport{1};
}

TEST_CASE("before any sample every route costs one millisecond") {
  const RouteCost cost(2);
  CHECK(cost.estimate(kHome) == 1);
  CHECK(cost.estimate(kReport) == 1);
}

TEST_CASE("a route without samples costs the mean over all routes") {
  RouteCost cost(3);
  for (int i = 0; i < 20; ++i) {
    cost.record(kHome, 10ms);
    cost.record(kReport, 30ms);
  }
  CHECK(cost.estimate(kHome) == doctest::Approx(10));
  CHECK(cost.estimate(kReport) == doctest::Approx(30));
  CHECK(cost.estimate(RouteId{2}) == doctest::Approx(20));
}

TEST_CASE("the first samples of a route are averaged and the last ones outweigh the old") {
  RouteCost cost(1);
  cost.record(kHome, 10ms);
  cost.record(kHome, 30ms);
  CHECK(cost.estimate(kHome) == doctest::Approx(20));
  for (int i = 0; i < 1000; ++i) cost.record(kHome, 10ms);
  for (int i = 0; i < 64; ++i) cost.record(kHome, 110ms);
  CHECK(cost.estimate(kHome) > 10 + 0.6 * 100);  // 1 - 1/e of the way
  CHECK(cost.estimate(kHome) < 10 + 0.7 * 100);
}

TEST_CASE("a route that takes no time or less still costs something") {
  RouteCost cost(2);
  cost.record(kHome, 0ms);
  cost.record(kHome, -5ms);
  CHECK(cost.estimate(kHome) == RouteCost::kLeast);
  CHECK(cost.estimate(kReport) == RouteCost::kLeast);
}

TEST_CASE("a degraded request is cheaper until its own cost is known and keeps the whole one's") {
  RouteCost cost(2);
  cost.record(kHome, 40ms);
  CHECK(cost.estimate(kHome, true) == doctest::Approx(20));
  cost.record(kHome, 4ms, true);
  CHECK(cost.estimate(kHome, true) == doctest::Approx(4));
  CHECK(cost.estimate(kHome) == doctest::Approx(40));
  CHECK(cost.estimate(kReport) == doctest::Approx(40));
  CHECK(cost.estimate(kReport, true) == doctest::Approx(20));
}
