#include "cache/store/invalidation_times.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::cache;
using namespace std::chrono_literals;

namespace {

const TimePoint kStart = TimePoint{} + 1h;

}  // namespace

TEST_CASE("responses requested until their URI's invalidation are invalid") {
  InvalidationTimes times(1000);
  CHECK_FALSE(times.is_invalid(7, kStart));
  times.invalidate(7, kStart);
  CHECK(times.is_invalid(7, kStart - 1s));
  CHECK(times.is_invalid(7, kStart));
  CHECK_FALSE(times.is_invalid(7, kStart + 1ns));
  times.invalidate(7, kStart - 1h);  // of a slower thread
  CHECK(times.is_invalid(7, kStart));
}

TEST_CASE("URIs of one slot are told apart until more are invalidated than it has room for") {
  InvalidationTimes times(1);  // a single slot
  for (std::uint64_t uri = 1; uri <= InvalidationTimes::kUrisInSlot; ++uri)
    times.invalidate(uri, kStart + std::chrono::seconds(uri));
  CHECK_FALSE(times.is_invalid(99, kStart));
  CHECK_FALSE(times.is_invalid(1, kStart + 2s));
  CHECK(times.is_invalid(1, kStart + 1s));
  // Of the oldest only the time is left: that invalidates too much, never too little.
  times.invalidate(50, kStart + 60s);
  CHECK(times.is_invalid(1, kStart + 1s));
  CHECK(times.is_invalid(99, kStart + 1s));
  CHECK_FALSE(times.is_invalid(99, kStart + 2s));
  CHECK(times.is_invalid(50, kStart + 60s));
}

TEST_CASE("many invalidations leave most other URIs valid") {
  InvalidationTimes times(4096);
  for (std::uint64_t n = 0; n < 500; ++n)
    times.invalidate(n * 0x9e3779b97f4a7c15u, kStart + std::chrono::seconds(n));
  int lost = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n)
    lost += times.is_invalid((n + 1'000'000) * 0x9e3779b97f4a7c15u, kStart);
  CHECK(lost < 100);
}
