// Quantiles of durations in fixed memory.
//
// Buckets are log-spaced as in HdrHistogram (Tene): one octave per power of two of
// nanoseconds, each cut into 32 equal parts, from 8.2 us to 1100 s. A quantile is reported as
// the harmonic middle of its bucket and is off by at most 1.6 %. Shorter durations
// count as zero, longer ones as 1100 s. Counters are 32 bits and may wrap: readers subtract.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.hpp"

namespace spillway::overload {

inline constexpr int kLowestOctave = 13;   // 2^13 ns = 8.2 us
inline constexpr int kHighestOctave = 40;  // 2^40 ns = 1100 s, excluded
inline constexpr int kPartsLog2 = 5;
inline constexpr std::size_t kBucketCount =
    std::size_t(kHighestOctave - kLowestOctave) * (1u << kPartsLog2) + 2;

// The bucket of a duration; negative ones count as zero.
constexpr std::size_t bucket_of(Duration d) {
  if (d.count() < (std::int64_t{1} << kLowestOctave)) return 0;
  const auto ns = static_cast<std::uint64_t>(d.count());
  const int octave = static_cast<int>(std::bit_width(ns)) - 1;
  if (octave >= kHighestOctave) return kBucketCount - 1;
  const auto part = (ns >> (octave - kPartsLog2)) & ((1u << kPartsLog2) - 1);
  return 1 + (std::size_t(octave - kLowestOctave) << kPartsLog2) + part;
}

// The duration reported for all samples of a bucket.
Duration value_of_bucket(std::size_t bucket);

using BucketCounts = std::array<std::uint32_t, kBucketCount>;

std::uint64_t total(const BucketCounts& counts);

// The smallest reported value that at least a share q of the samples do not exceed, q in
// [0, 1]; zero when there are no samples.
Duration quantile(const BucketCounts& counts, double q);

// The newest N slices of samples, kept as their sum; adding a slice drops the oldest, so that
// old samples leave smoothly.
class SlidingHistogram {
 public:
  explicit SlidingHistogram(std::size_t slices);  // at least 1

  void add_slice(const BucketCounts& slice);

  const BucketCounts& counts() const { return sum_; }
  std::uint64_t count() const { return count_; }
  Duration quantile(double q) const { return overload::quantile(sum_, q); }

 private:
  std::vector<BucketCounts> slices_;
  std::size_t oldest_ = 0;
  BucketCounts sum_{};
  std::uint64_t count_ = 0;
};

}  // namespace spillway::overload
