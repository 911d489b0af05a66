#include "overload/signals/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway::overload {

Duration value_of_bucket(std::size_t bucket) {
  if (bucket == 0) return Duration{0};
  if (bucket >= kBucketCount - 1) return Duration{std::int64_t{1} << kHighestOctave};
  const std::size_t parts = std::size_t{1} << kPartsLog2;
  const std::size_t octave = (bucket - 1) / parts;
  const std::size_t part = (bucket - 1) % parts;
  const double width = std::ldexp(1.0, kLowestOctave + static_cast<int>(octave) - kPartsLog2);
  const double low = width * static_cast<double>(parts + part);
  const double high = low + width;
  return Duration{static_cast<std::int64_t>(2 * low * high / (low + high))};
}

std::uint64_t total(const BucketCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Duration quantile(const BucketCounts& counts, double q) {
  const std::uint64_t count = total(counts);
  if (count == 0) return Duration{0};
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count))));
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    passed += counts[i];
    if (passed >= wanted) return value_of_bucket(i);
  }
  return value_of_bucket(kBucketCount - 1);
}

SlidingHistogram::SlidingHistogram(std::size_t slices)
    : slices_(std::max<std::size_t>(1, slices), BucketCounts{}) {}

void SlidingHistogram::add_slice(const BucketCounts& slice) {
  BucketCounts& oldest = slices_[oldest_];
  count_ += total(slice);
  count_ -= total(oldest);
  for (std::size_t i = 0; i < kBucketCount; ++i) sum_[i] += slice[i] - oldest[i];
  oldest = slice;
  oldest_ = (oldest_ + 1) % slices_.size();
}

}  // namespace spillway::overload
