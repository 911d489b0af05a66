// Event loop lag of one worker: the lateness of a 10 ms timer over the last second.
//
// Owned by one worker, which publishes p90() itself (an atomic the tick reads).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/time.hpp"

namespace spillway::overload {

class LoopLag {
 public:
  static constexpr Milliseconds kPeriod{10};
  static constexpr Milliseconds kWindow{1000};

  // The timer fired `lateness` after it should have (negative counts as zero).
  void record(Duration lateness, TimePoint now) {
    ring_[next_] = {now, std::max(lateness, Duration{0})};
    next_ = (next_ + 1) % ring_.size();
    size_ = std::min(size_ + 1, ring_.size());
  }

  // Nine of ten firings of the last second were at most this late. nullopt before twenty
  // periods were watched; a loop that stalls watches many periods in few firings.
  std::optional<Duration> p90(TimePoint now) const {
    std::array<Duration, kRing> recent;
    std::size_t count = 0;
    Duration watched{0};
    for (std::size_t i = 0; i < size_; ++i) {
      if (ring_[i].at + kWindow < now) continue;
      recent[count++] = ring_[i].lateness;
      watched += ring_[i].lateness + kPeriod;
    }
    if (watched < 20 * kPeriod) return std::nullopt;
    const auto rank = recent.begin() + static_cast<std::ptrdiff_t>((count * 9 + 9) / 10 - 1);
    std::nth_element(recent.begin(), rank, recent.begin() + static_cast<std::ptrdiff_t>(count));
    return *rank;
  }

 private:
  struct Firing {
    TimePoint at;
    Duration lateness;
  };
  static constexpr std::size_t kRing = 128;  // a second of firings and some to spare

  std::array<Firing, kRing> ring_{};
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

}  // namespace spillway::overload
