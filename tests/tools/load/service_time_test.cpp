#include "bench/load/service_time.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace spillway;
using namespace spillway::load;

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

TEST_CASE("the time of a numbered request depends on its number and the seed alone") {
  ServiceTime service(Milliseconds(20), 0.5, 1);
  const Duration first = service.of(7);
  service.draw();
  CHECK(service.of(7) == first);
  CHECK(service.of(8) != first);
  CHECK(ServiceTime(Milliseconds(20), 0.5, 2).of(7) != first);
  CHECK(ServiceTime(Milliseconds(40), 0.5, 1).of(7) / 2 - first < std::chrono::nanoseconds(2));
}

TEST_CASE(
    "numbered times are spread as drawn ones and neighbours have nothing to do with each other") {
  const ServiceTime service(Milliseconds(20), 0.5, 3);
  double sum = 0, squares = 0, products = 0, before = 20;
  constexpr std::uint32_t kRequests = 100000;
  for (std::uint32_t number = 0; number < kRequests; ++number) {
    const double ms = to_milliseconds(service.of(number));
    sum += ms;
    squares += ms * ms;
    products += (ms - 20) * (before - 20);
    before = ms;
  }
  const double mean = sum / kRequests;
  const double variance = squares / kRequests - mean * mean;
  CHECK(mean == doctest::Approx(20).epsilon(0.01));
  CHECK(variance / 400 == doctest::Approx(std::exp(0.25) - 1).epsilon(0.05));
  CHECK(std::abs(products / kRequests / variance) < 0.02);
}

TEST_CASE("a tail makes some requests longer and the mean says so") {
  ServiceTime service(Milliseconds(10), 0, 1, {.share = 0.01, .factor = 10});
  CHECK(to_milliseconds(service.mean()) == doctest::Approx(10.9));
  double sum = 0;
  int longer = 0;
  for (std::uint32_t number = 0; number < 100000; ++number) {
    const double ms = to_milliseconds(service.of(number));
    CHECK((ms == doctest::Approx(10) || ms == doctest::Approx(100)));
    sum += ms;
    longer += ms > 50 ? 1 : 0;
  }
  CHECK(sum / 100000 == doctest::Approx(10.9).epsilon(0.02));
  CHECK(longer == doctest::Approx(1000).epsilon(0.1));
}
