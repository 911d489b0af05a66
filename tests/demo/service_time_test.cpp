#include "service_time.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::demo;

TEST_CASE("service times have the mean asked for and a tail above it") {
  ServiceTime service(Milliseconds(20), 0.35, 1);
  double sum = 0;
  double squares = 0;
  int below = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double ms = to_milliseconds(service.draw());
    sum += ms;
    squares += ms * ms;
    below += ms < 20 ? 1 : 0;
  }
  const double mean = sum / kDraws;
  CHECK(mean == doctest::Approx(20).epsilon(0.01));
  // Lognormal: variance / mean^2 = exp(sigma^2) - 1 = 0.130 for 0.35.
  CHECK((squares / kDraws - mean * mean) / (mean * mean) == doctest::Approx(0.130).epsilon(0.05));
  CHECK(below > kDraws / 2);
}

TEST_CASE("without spread every service time is the mean") {
  ServiceTime service(Milliseconds(20), 0, 1);
  for (int i = 0; i < 100; ++i) {
    CHECK(to_milliseconds(service.draw()) == doctest::Approx(20).epsilon(1e-6));
  }
}

TEST_CASE("thrashing starts at the knee and ends at tenfold") {
  CHECK(slowdown(1000000, 0) == 1);
  CHECK(slowdown(50, 100) == 1);
  CHECK(slowdown(100, 100) == 1);
  CHECK(slowdown(250, 100) == doctest::Approx(2.5));
  CHECK(slowdown(5000, 100) == 10);
}
