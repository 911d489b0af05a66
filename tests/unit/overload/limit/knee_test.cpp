#include "overload/limit/knee.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace spillway::overload;

namespace {

// Measures an upstream that works on `parallel` requests at once, without noise.
void measure(Knee& knee, double parallel, double low, double high, double deviation = 0.05) {
  const double growth = std::log(std::min(high, parallel) / std::min(low, parallel));
  knee.learn(low, high, growth, deviation);
}

double median(const Knee& knee) { return std::exp(knee.quantile(0.5)); }
double spread(const Knee& knee) { return knee.quantile(0.8) - knee.quantile(0.2); }

}  // namespace

TEST_CASE("two limits with equal throughput place the knee below both") {
  Knee knee(1, 1000);
  knee.suppose(64, 1);
  measure(knee, 10, 40, 80);
  CHECK(median(knee) < 40);
  CHECK(knee.quantile(0.9) < std::log(48));
}

TEST_CASE("throughput in proportion to two limits places the knee above both") {
  Knee knee(1, 1000);
  knee.suppose(64, 1);
  measure(knee, 500, 40, 80);
  CHECK(median(knee) > 80);
}

TEST_CASE("a knee between two limits is found by two measurements") {
  Knee knee(1, 1000);
  knee.suppose(64, 1);
  measure(knee, 50, 40, 80, 0.02);
  measure(knee, 50, 40, 80, 0.02);
  CHECK(median(knee) == doctest::Approx(50).epsilon(0.05));
  CHECK(spread(knee) < 0.1);
}

TEST_CASE("a noisy measurement says less") {
  Knee exact(1, 1000), noisy(1, 1000);
  exact.suppose(64, 1);
  noisy.suppose(64, 1);
  for (int i = 0; i < 2; ++i) {
    measure(exact, 50, 40, 80, 0.02);
    measure(noisy, 50, 40, 80, 0.5);
  }
  CHECK(spread(noisy) > 3 * spread(exact));
}

TEST_CASE("throughput that falls with the limit is taken as equal") {
  Knee thrashes(1, 1000), levels(1, 1000);
  thrashes.suppose(64, 1);
  levels.suppose(64, 1);
  thrashes.learn(40, 80, -0.7, 0.05);
  levels.learn(40, 80, 0, 0.05);
  CHECK(thrashes.quantile(0.5) == levels.quantile(0.5));
}

TEST_CASE("a knee that moved far is found again, the sooner the more it surprises") {
  Knee knee(1, 1000);
  knee.suppose(16, 0.1);
  for (int i = 0; i < 50; ++i) measure(knee, 16, 15, 19);
  REQUIRE(median(knee) == doctest::Approx(16).epsilon(0.1));
  int measurements = 0;
  for (; median(knee) < 36 && measurements < 100; ++measurements) {
    const double low = std::exp(knee.quantile(0.6));
    measure(knee, 40, low, 1.2 * low);
  }
  CHECK(measurements <= 12);
}

TEST_CASE("the knee stays within its bounds") {
  Knee knee(10, 20);
  knee.suppose(15, 1);
  for (int i = 0; i < 20; ++i) measure(knee, 2, 10, 12);
  CHECK(knee.quantile(0) >= std::log(10) - 1e-9);
  for (int i = 0; i < 20; ++i) measure(knee, 200, 15, 20);
  CHECK(knee.quantile(1) <= std::log(20) + 1e-9);

  Knee point(7, 7);
  point.suppose(7, 1);
  measure(point, 7, 7, 8);
  CHECK(std::exp(point.quantile(0.5)) == doctest::Approx(7).epsilon(0.01));
}

TEST_CASE("a guess is believed until measurements say otherwise, above it or below") {
  const auto guess = [] {
    Knee knee(1, 1000);
    knee.suppose_at_least(10, 100);
    return knee;
  };
  CHECK(median(guess()) == doctest::Approx(10).epsilon(0.3));
  for (const double truth : {3.0, 10.0, 40.0, 90.0}) {
    CAPTURE(truth);
    Knee knee = guess();
    for (int i = 0; i < 12; ++i) {
      const double low = std::exp(knee.quantile(0.5));
      measure(knee, truth, low, 1.5 * low);
    }
    CHECK(median(knee) == doctest::Approx(truth).epsilon(0.25));
  }
}
