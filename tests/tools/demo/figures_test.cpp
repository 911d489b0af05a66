#include "figures.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::demo;
using namespace spillway::load;

TEST_CASE("shares are of the requests that ended") {
  const Counts counts{.offered = 100, .ok = 10, .degraded = 5, .denied = 20, .failed = 10};
  CHECK(per_cent(counts.ok, counts) == doctest::Approx(25));
  CHECK(per_cent(counts.degraded, counts) == doctest::Approx(12.5));
  CHECK(per_cent(0, Counts{}) == 0);
}

TEST_CASE("a latency below ten milliseconds has a decimal") {
  Counts counts;
  CHECK(latency(counts, 0.5) == "-");
  counts.add({.fate = Fate::ok}, std::chrono::microseconds(40));
  CHECK(latency(counts, 0.5) == "<0.1");
  CHECK(latency(counts, 0.99) == "<0.1");
  counts.add({.fate = Fate::ok}, std::chrono::microseconds(340));
  CHECK(latency(counts, 0.99) == "0.3");
  counts.add({.fate = Fate::ok}, std::chrono::microseconds(9960));
  counts.add({.fate = Fate::ok}, std::chrono::microseconds(40400));
  CHECK(latency(counts, 0.75) == "10");
  CHECK(latency(counts, 0.99) == "40");
}
