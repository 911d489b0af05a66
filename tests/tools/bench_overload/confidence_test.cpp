#include "bench/overload/confidence.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"

using namespace spillway::bench;

TEST_CASE("the error of a share is that of Wilson's interval") {
  CHECK(share_error(50, 100) == doctest::Approx(0.0962).epsilon(0.01));
  CHECK(share_error(500, 1000) == doctest::Approx(0.0309).epsilon(0.01));
  CHECK(share_error(100, 100) == doctest::Approx(0.0185).epsilon(0.02));
  CHECK(share_error(0, 0) == 1);
}

TEST_CASE("a share that was seen is nearer to the true one than its error in 95 of 100 runs") {
  spillway::Random random(1);
  int near = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    std::uint64_t part = 0;
    constexpr std::uint64_t kAll = 400;
    for (std::uint64_t i = 0; i < kAll; ++i) part += random.uniform() < 0.3 ? 1 : 0;
    const double seen = static_cast<double>(part) / kAll;
    near += std::abs(seen - 0.3) <= share_error(part, kAll) ? 1 : 0;
  }
  CHECK(near > 0.93 * kRuns);
  CHECK(near < 0.97 * kRuns);  // and it is no wider than it must be
}

TEST_CASE("the error of a rate falls with the root of what was counted") {
  CHECK(rate_error(10000) == doctest::Approx(0.0196));
  CHECK(rate_error(0) == 1);
}
