// Event loop lag of one worker: the lateness of a 10 ms timer over the last second; and how much of
// the time its thread runs, which tells a loop that has too much to do from one whose core is
// taken.
//
// Owned by one worker, which publishes p90() and value() itself (atomics the tick reads).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

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

// The part of the time for which the loop's thread has run, [0, 1]: a mean over about a second.
class LoopUse {
 public:
  // The thread has run for `ran` in all.
  void record(Duration ran, TimePoint now) {
    const double passed = to_seconds(now - std::exchange(at_, now));
    const double part = to_seconds(ran - std::exchange(ran_, ran)) / std::max(passed, 1e-9);
    if (passed > 0) value_ += (std::clamp(part, 0.0, 1.0) - value_) * (1 - std::exp(-passed));
  }
  double value() const { return value_; }

 private:
  TimePoint at_{};
  Duration ran_{0};
  double value_ = 0;
};

}  // namespace spillway::overload
