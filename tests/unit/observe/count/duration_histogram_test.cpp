#include "observe/count/duration_histogram.hpp"

#include <doctest/doctest.h>

namespace spillway::observe {
namespace {

HistogramSnapshot snapshot_of(const DurationHistogram& histogram) {
  HistogramSnapshot snapshot;
  histogram.add_to(snapshot);
  return snapshot;
}

TEST_CASE("a duration on a bound falls into the bucket that the bound closes") {
  for (std::size_t i = 0; i < DurationHistogram::kBoundsNanoseconds.size(); ++i) {
    DurationHistogram histogram;
    const Duration bound{DurationHistogram::kBoundsNanoseconds[i]};
    histogram.observe(bound);
    histogram.observe(bound + Duration{1});
    const HistogramSnapshot snapshot = snapshot_of(histogram);
    CHECK(snapshot.counts[i] == 1);
    CHECK(snapshot.counts[i + 1] == 1);
    CHECK(snapshot.sum == static_cast<std::uint64_t>(2 * bound.count() + 1));
  }
}

TEST_CASE("the longest and the impossible durations have a bucket too") {
  DurationHistogram histogram;
  histogram.observe(std::chrono::hours{1});
  histogram.observe(Milliseconds{-5});
  histogram.observe(Duration{0});
  const HistogramSnapshot snapshot = snapshot_of(histogram);
  CHECK(snapshot.counts.back() == 1);
  CHECK(snapshot.counts.front() == 2);
  CHECK(snapshot.sum == 3'600'000'000'000u);
}

TEST_CASE("several histograms add up") {
  DurationHistogram one;
  DurationHistogram other;
  one.observe(Milliseconds{3});
  other.observe(Milliseconds{4});
  HistogramSnapshot total;
  one.add_to(total);
  other.add_to(total);
  CHECK(total.counts[2] == 2);
  CHECK(total.sum == 7'000'000u);
}

}  // namespace
}  // namespace spillway::observe
