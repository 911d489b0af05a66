#include "waiting/estimate.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "crowd.hpp"

namespace spillway::waiting {
namespace {

double exponential(Random& random, double per_second) {
  return -std::log(1 - random.uniform()) / per_second;
}

// The wait with so many ahead, of whom each leaves at that rate: calls are a Poisson process.
double wait_played(Random& random, std::size_t ahead, const Flow& flow) {
  double seconds = 0;
  for (std::size_t left = ahead + 1; left > 0; --left) {
    const double leaving = flow.leaving_per_second * static_cast<double>(left - 1);
    seconds += exponential(random, flow.calls_per_second + leaving);
  }
  return seconds;
}

}  // namespace

TEST_CASE("the range holds four of five waits, and its middle is near them") {
  for (const std::size_t ahead : {10u, 100u, 1000u}) {
    for (const double leaving : {0.0, 1.0 / 3600}) {
      const Flow flow{.calls_per_second = 0.667, .leaving_per_second = leaving};
      const Range range = wait_range(ahead, flow);
      const double expected = static_cast<double>(expected_wait(ahead, flow).count()) / 1000;
      Random random(ahead);
      int within = 0;
      double error = 0;
      constexpr int kRuns = 2000;
      for (int n = 0; n < kRuns; ++n) {
        const double wait = wait_played(random, ahead, flow);
        error += std::abs(wait - expected) / wait;
        if (wait * 1000 >= static_cast<double>(range.p10.count()) &&
            wait * 1000 <= static_cast<double>(range.p90.count()))
          ++within;
      }
      CAPTURE(ahead);
      CAPTURE(leaving);
      CHECK(within >= kRuns * 0.75);
      CHECK(within <= kRuns * 0.87);
      if (ahead >= 100) CHECK(error / kRuns <= 0.10);
      if (ahead >= 1000) CHECK(error / kRuns <= 0.05);
    }
  }
}

TEST_CASE("position over rate alone is wrong where people leave") {
  const Flow flow{.calls_per_second = 0.667, .leaving_per_second = 1.0 / 3600};
  const Flow plain{.calls_per_second = 0.667};
  const auto with = expected_wait(1000, flow).count();
  const auto without = expected_wait(1000, plain).count();
  CHECK(without == doctest::Approx(1001 / 0.667 * 1000).epsilon(0.001));
  CHECK(static_cast<double>(without) > 1.15 * static_cast<double>(with));
}

TEST_CASE("a rate that was learned from few events gives a wider range") {
  const Range given = wait_range(100, {.calls_per_second = 1});
  const Range learned = wait_range(100, {.calls_per_second = 1, .weight = 20});
  CHECK(learned.p90 > given.p90);
  CHECK(learned.p10 < given.p10);
}

}  // namespace spillway::waiting
