// The number of events in a sliding window: ten slices, the oldest of which is dropped as a whole,
// so the count covers between nine tenths of the window and all of it. Fixed memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

class SlidingCount {
 public:
  static constexpr std::size_t kSlices = 10;

  explicit SlidingCount(Duration window)
      : slice_(std::max(window / static_cast<int>(kSlices), Duration(1))) {}

  // A `now` earlier than a previous one counts as that one; the same in total().
  void add(TimePoint now) {
    advance(now);
    ++counts_[current_];
    ++total_;
  }
  std::uint64_t total(TimePoint now) {
    advance(now);
    return total_;
  }
  // Takes back one of the latest events, if there is any.
  void take_back(TimePoint now) {
    advance(now);
    if (total_ == 0) return;
    std::size_t latest = current_;
    while (counts_[latest] == 0) latest = (latest + kSlices - 1) % kSlices;
    --counts_[latest];
    --total_;
  }
  void clear() {
    counts_.fill(0);
    total_ = 0;
  }

 private:
  void advance(TimePoint now) {
    const std::int64_t slice = now.time_since_epoch() / slice_;
    if (slice <= slice_number_) return;
    // Both ends of the time line are possible, so the difference is taken as unsigned.
    const std::uint64_t steps =
        static_cast<std::uint64_t>(slice) - static_cast<std::uint64_t>(slice_number_);
    slice_number_ = slice;
    if (steps >= kSlices) return clear();
    for (std::uint64_t i = 0; i < steps; ++i) {
      current_ = (current_ + 1) % kSlices;
      total_ -= counts_[current_];
      counts_[current_] = 0;
    }
  }

  Duration slice_;
  std::int64_t slice_number_ = INT64_MIN;
  std::array<std::uint64_t, kSlices> counts_{};
  std::size_t current_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace spillway::resilience
