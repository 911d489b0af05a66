#include "overload/signals/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

TEST_CASE("every bucket reports a value within three percent of all its durations") {
  for (double seconds = 10e-6; seconds < 1000; seconds *= 1.003) {
    const Duration d = from_seconds(seconds);
    const double reported = to_seconds(value_of_bucket(bucket_of(d)));
    REQUIRE(std::abs(reported - seconds) <= 0.03 * seconds);
  }
}

TEST_CASE("buckets are ordered and durations beyond the range land at its ends") {
  CHECK(bucket_of(-5ms) == 0);
  CHECK(bucket_of(0ms) == 0);
  CHECK(bucket_of(8191ns) == 0);
  CHECK(bucket_of(8192ns) == 1);
  CHECK(bucket_of(std::chrono::hours(1)) == kBucketCount - 1);
  CHECK(bucket_of(Duration::max()) == kBucketCount - 1);
  CHECK(value_of_bucket(0) == Duration{0});
  for (std::size_t i = 1; i < kBucketCount; ++i) {
    REQUIRE(value_of_bucket(i - 1) < value_of_bucket(i));
    REQUIRE(bucket_of(value_of_bucket(i)) == i);
  }
}

TEST_CASE("quantiles agree with sorting within three percent") {
  Random random(7);
  BucketCounts counts{};
  std::vector<double> samples;
  for (int i = 0; i < 20000; ++i) {
    const double seconds = 0.001 * std::exp(6 * random.uniform());
    samples.push_back(seconds);
    ++counts[bucket_of(from_seconds(seconds))];
  }
  std::sort(samples.begin(), samples.end());
  for (const double q : {0.01, 0.5, 0.9, 0.95, 0.99, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 20000)) - 1;
    CHECK(to_seconds(quantile(counts, q)) == doctest::Approx(samples[rank]).epsilon(0.03));
  }
  CHECK(quantile(BucketCounts{}, 0.5) == Duration{0});
}

TEST_CASE("old samples leave a sliding histogram slice by slice") {
  SlidingHistogram window(3);
  BucketCounts slow{}, fast{};
  slow[bucket_of(1s)] = 10;
  fast[bucket_of(1ms)] = 10;
  window.add_slice(slow);
  window.add_slice(fast);
  CHECK(window.count() == 20);
  CHECK(window.quantile(0.95) > 900ms);
  window.add_slice(fast);
  CHECK(window.count() == 30);
  window.add_slice(fast);
  CHECK(window.count() == 30);
  CHECK(window.quantile(1) < 2ms);
  for (int i = 0; i < 3; ++i) window.add_slice(BucketCounts{});
  CHECK(window.count() == 0);
}
