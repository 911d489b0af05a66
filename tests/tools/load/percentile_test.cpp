#include "bench/load/percentile.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using load::percentile;

TEST_CASE("a percentile is a measured value by nearest rank") {
  std::vector<Duration> samples;
  for (int ms = 100; ms >= 1; --ms) samples.push_back(Milliseconds(ms));
  CHECK(percentile(samples, 0.5) == Milliseconds(50));
  CHECK(percentile(samples, 0.95) == Milliseconds(95));
  CHECK(percentile(samples, 0.99) == Milliseconds(99));
  CHECK(percentile(samples, 1.0) == Milliseconds(100));
  CHECK(percentile(samples, 0.001) == Milliseconds(1));
}

TEST_CASE("percentiles of very few samples") {
  CHECK(percentile({}, 0.5) == Duration::zero());
  CHECK(percentile({Milliseconds(7)}, 0.01) == Milliseconds(7));
  CHECK(percentile({Milliseconds(7)}, 1.0) == Milliseconds(7));
  CHECK(percentile({Milliseconds(9), Milliseconds(3)}, 0.5) == Milliseconds(3));
}
