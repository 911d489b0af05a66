#include "resilience/token_bucket.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <limits>
#include <thread>

#include "base/random.hpp"

namespace spillway::resilience {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(24 * 400)};  // an uptime of over a year

int take_all(TokenBucket& bucket, double rate, double burst, TimePoint now) {
  int taken = 0;
  while (taken < 1'000'000 && bucket.try_take(rate, burst, now)) ++taken;
  return taken;
}

}  // namespace

TEST_CASE("an idle token bucket holds a burst and then refuses") {
  TokenBucket bucket;
  CHECK(bucket.available(10, 5, kStart) == 5);
  CHECK(take_all(bucket, 10, 5, kStart) == 5);
  CHECK(bucket.available(10, 5, kStart) == 0);
  CHECK_FALSE(bucket.try_take(10, 5, kStart + milliseconds(99)));
  CHECK(bucket.try_take(10, 5, kStart + milliseconds(100)));
  CHECK_FALSE(bucket.try_take(10, 5, kStart + milliseconds(100)));
  CHECK(take_all(bucket, 10, 5, kStart + std::chrono::hours(1)) == 5);
}

TEST_CASE("a greedy taker gets the burst and then exactly the rate") {
  for (const double rate : {0.5, 3.0, 7.0, 1000.0, 33'333.0, 1'000'000.0, 3e7}) {
    CAPTURE(rate);
    TokenBucket bucket;
    const int steps = 200'000;
    const double span = 100'000 / rate;
    int taken = 0;
    for (int i = 0; i <= steps; ++i) {
      taken += take_all(bucket, rate, 20, kStart + from_seconds(span * i / steps));
    }
    CHECK(taken <= 20 + 100'000);
    const double rounding = rate / 16e9;  // of the time of a token, up
    CHECK(taken >= 20 + 100'000 * (1 - rounding) - 1);
  }
}

TEST_CASE("no window holds more than the burst and the rate times its length") {
  const double rate = 250;
  const double burst = 12.5;
  TokenBucket bucket;
  Random random(7);
  TimePoint now = kStart;
  std::deque<TimePoint> passed;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool rush = i / 1000 % 2 == 0;
    now += microseconds(static_cast<int>(random.uniform() * (rush ? 2'000 : 12'000)));
    if (bucket.try_take(rate, burst, now))
      passed.push_back(now);
    else
      ++refused;
    CHECK(bucket.available(rate, burst, now) >= 0);
    CHECK(bucket.available(rate, burst, now) <= burst);
  }
  CHECK(refused > 1000);
  double worst = 0;
  for (std::size_t first = 0; first < passed.size(); ++first) {
    const std::size_t end = std::min(passed.size(), first + 400);
    for (std::size_t last = first; last < end; ++last) {
      const auto count = static_cast<double>(last - first + 1);
      worst = std::max(worst, count - rate * to_seconds(passed[last] - passed[first]));
    }
  }
  CHECK(worst <= burst + 1e-6);
  CHECK(worst > burst - 2);  // the bound is reached: a bucket of half the burst would pass too
}

TEST_CASE("a token given back can be taken again but never fills a bucket over its burst") {
  TokenBucket bucket;
  CHECK(take_all(bucket, 10, 3, kStart) == 3);
  bucket.give_back(10);
  CHECK(bucket.available(10, 3, kStart) == 1);
  CHECK(take_all(bucket, 10, 3, kStart) == 1);
  for (int i = 0; i < 50; ++i) bucket.give_back(10);
  CHECK(bucket.available(10, 3, kStart) == 3);
  CHECK(take_all(bucket, 10, 3, kStart) == 3);

  TokenBucket untouched;
  untouched.give_back(10);
  CHECK(untouched.available(10, 3, kStart) == 3);
  CHECK(take_all(untouched, 10, 3, kStart) == 3);
}

TEST_CASE("rates and bursts beyond reason have the nearest meaning") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double nothing : {0.0, -1.0, kNan, -kInfinity}) {
    TokenBucket bucket;
    CHECK_FALSE(bucket.try_take(nothing, 100, kStart));
    bucket.give_back(nothing);
    CHECK(bucket.available(nothing, 100, kStart) == 0);
  }
  for (const double one : {0.0, -5.0, 0.5, 1.0, 1.9, kNan}) {
    CAPTURE(one);
    TokenBucket bucket;
    CHECK(take_all(bucket, 10, one, kStart) == 1);
    CHECK(take_all(bucket, 10, one, kStart + milliseconds(99)) == (one == 1.9 ? 1 : 0));
  }
  TokenBucket unlimited;
  CHECK(take_all(unlimited, kInfinity, kInfinity, kStart) == 1'000'000);
  TokenBucket glacial;
  CHECK(take_all(glacial, 1e-300, kInfinity, kStart) == 1);
  CHECK_FALSE(glacial.try_take(1e-300, 1, kStart + std::chrono::hours(24 * 365)));
  TokenBucket early;
  CHECK(take_all(early, 10, 4, TimePoint(-seconds(5))) == 4);
  CHECK(take_all(early, 10, 4, TimePoint(-seconds(5) + milliseconds(100))) == 1);
}

TEST_CASE("a clock slightly behind neither gains nor loses a token") {
  TokenBucket bucket;
  CHECK(take_all(bucket, 100, 4, kStart + milliseconds(50)) == 4);
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(bucket.try_take(100, 4, kStart + milliseconds(i)));
    CHECK(bucket.available(100, 4, kStart + milliseconds(i)) == 0);
  }
  CHECK(take_all(bucket, 100, 4, kStart + milliseconds(59)) == 0);
  CHECK(take_all(bucket, 100, 4, kStart + milliseconds(60)) == 1);
}

TEST_CASE("the state of a bucket outlives a change of rate and of burst") {
  TokenBucket bucket;
  CHECK(take_all(bucket, 0.01, 10, kStart) == 10);
  // A faster rate is not held to a debt of a thousand seconds.
  CHECK_FALSE(bucket.try_take(100, 10, kStart));
  CHECK(take_all(bucket, 100, 10, kStart + milliseconds(50)) == 5);
  CHECK(take_all(bucket, 100, 10, kStart + seconds(5)) == 10);
  // A smaller burst counts at once, a greater one fills at the rate.
  CHECK(take_all(bucket, 100, 2, kStart + seconds(10)) == 2);
  CHECK(take_all(bucket, 100, 50, kStart + seconds(10) + milliseconds(20)) <= 50);
  // A slower rate hands out at most one burst more.
  CHECK(take_all(bucket, 1, 10, kStart + seconds(11)) <= 10);
  CHECK(take_all(bucket, 1, 10, kStart + seconds(12)) == 1);
}

TEST_CASE("two threads never get more from a bucket than one") {
  constexpr int kTries = 1'000'000;  // each 1 us later than the one before: every second one passes
  TokenBucket bucket;
  std::atomic<int> arrived{0};
  std::atomic<int> tries{0};
  std::array<int, 2> taken{};
  const auto greedy = [&](std::size_t self) {
    for (++arrived; arrived < 2;) std::this_thread::yield();
    int mine = 0;
    for (int i; (i = tries.fetch_add(1)) < kTries;) {
      mine += bucket.try_take(500'000, 100, kStart + microseconds(i));
    }
    taken[self] = mine;
  };
  std::thread other(greedy, 1);
  greedy(0);
  other.join();
  CHECK(taken[0] + taken[1] <= 100 + kTries / 2);
  CHECK(taken[0] + taken[1] >= 100 + kTries / 2 - 2);
}

}  // namespace spillway::resilience
