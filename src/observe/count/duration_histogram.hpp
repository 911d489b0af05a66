// A histogram of durations with the fixed buckets that /metrics shows.
//
// Single writer, like Counter. Thirteen bounds from 1 ms to 10 s, each inclusive as in Prometheus;
// longer durations go to a last, unbounded bucket. Negative durations count as 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "observe/count/counter.hpp"

namespace spillway::observe {

// A histogram's values at one moment; snapshots of several workers can be added up.
struct HistogramSnapshot;

class DurationHistogram {
 public:
  static constexpr std::array<std::int64_t, 13> kBoundsNanoseconds{
      1'000'000,     2'500'000,     5'000'000,     10'000'000,  25'000'000,
      50'000'000,    100'000'000,   250'000'000,   500'000'000, 1'000'000'000,
      2'500'000'000, 5'000'000'000, 10'000'000'000};
  static constexpr std::size_t kBuckets = kBoundsNanoseconds.size() + 1;

  void observe(Duration duration) {
    const std::int64_t value = duration.count() < 0 ? 0 : duration.count();
    // Counting the bounds below the value compiles to straight-line code without a branch to
    // mispredict, which beats a binary search at this length.
    std::size_t bucket = 0;
    for (const std::int64_t bound : kBoundsNanoseconds) bucket += value > bound ? 1u : 0u;
    buckets_[bucket].add();
    sum_.add(static_cast<std::uint64_t>(value));
  }

  std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const Counter& bucket : buckets_) count += bucket.value();
    return count;
  }
  // Adds the counts so far to `total`.
  void add_to(HistogramSnapshot& total) const;

 private:
  std::array<Counter, kBuckets> buckets_;
  Counter sum_;  // nanoseconds
};

struct HistogramSnapshot {
  std::array<std::uint64_t, DurationHistogram::kBuckets> counts{};  // by bucket, not cumulative
  std::uint64_t sum = 0;                                            // nanoseconds
};

inline void DurationHistogram::add_to(HistogramSnapshot& total) const {
  for (std::size_t i = 0; i < kBuckets; ++i) total.counts[i] += buckets_[i].value();
  total.sum += sum_.value();
}

}  // namespace spillway::observe
