#include "bench/hostile/usage.hpp"

#include <doctest/doctest.h>

#include "bench/hostile/connection.hpp"

using namespace spillway;
using namespace spillway::hostile;
using namespace std::chrono_literals;

TEST_CASE("a ledger knows the most connections at a time and the bytes of all") {
  Ledger ledger;
  ledger.open();
  ledger.open();
  ledger.close(100);
  ledger.open();
  ledger.close(10);
  CHECK(ledger.usage().connections == 2);
  CHECK(ledger.usage().opened == 3);
  CHECK(ledger.usage().bytes == 110);
}

TEST_CASE("an attack that uses more connections or bytes than the bounds is out of them") {
  Usage usage{.connections = 1000, .opened = 5000, .bytes = 1'999'999, .seconds = 2};
  CHECK(within_bounds(usage));
  usage.bytes = 2'000'000;
  CHECK_FALSE(within_bounds(usage));
  usage.bytes = 0;
  usage.connections = 1001;
  CHECK_FALSE(within_bounds(usage));
  CHECK(bytes_per_second({.bytes = 5, .seconds = 0}) == 0);
}

TEST_CASE("what is spent at once is spread over time, and a pause earns no credit") {
  const TimePoint start{1h};
  Pace pace(1000);
  CHECK(pace.spend(500, start) == start);
  CHECK(pace.spend(500, start) == start + 500ms);
  CHECK(pace.spend(1, start) == start + 1s);
  CHECK(pace.spend(1, start + 1h) == start + 1h);
  CHECK(pace.spend(1, start + 1h) == start + 1h + 1ms);
}
