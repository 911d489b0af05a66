// Event loop lag of one worker: how long a new request waits until the loop begins it, over the
// last second; and how much of the time the loop's thread runs, which tells a loop that has too
// much to do from one whose core is taken.
//
// The lag is the larger of two waits, looked at by a 10 ms timer: how late the timer fires, and for
// how long the oldest of the requests that have not begun has waited. A loop turn begins a few of
// those and then looks at its timers, so a loop that cannot keep up with new requests is in time
// for its timer. Of the second one the least of a short time counts, as in CoDel (Nichols,
// Jacobson, "Controlling Queue Delay", ACM Queue 2012): a burst that is soon over is no lag, and
// that there is less to do is seen at once.
//
// Owned by one worker, which publishes the values itself (atomics the tick reads).
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
  static constexpr Milliseconds kUnreadWindow{200};  // of the wait of requests

  // The timer fired `lateness` after it should have (negative counts as zero); of the requests that
  // have not begun the oldest has waited for `unread`.
  void record(Duration lateness, Duration unread, TimePoint now) {
    ring_[next_] = {now, std::max(lateness, Duration{0}), unread};
    next_ = (next_ + 1) % ring_.size();
    size_ = std::min(size_ + 1, ring_.size());
  }

  // Nine of ten firings of the last second were at most this late; or for so long the oldest
  // request had waited at each firing of the last 200 ms, if that is more. nullopt before twenty
  // periods were watched; a loop that stalls watches many periods in few firings.
  std::optional<Duration> value(TimePoint now) const {
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
    return std::max(*rank, unread(now));
  }

 private:
  struct Firing {
    TimePoint at;
    Duration lateness;
    Duration unread;
  };

  // There was a firing.
  Duration unread(TimePoint now) const {
    std::size_t last = (next_ + kRing - 1) % kRing;
    Duration least = ring_[last].unread;
    for (std::size_t n = 1; n < size_; ++n) {
      last = (last + kRing - 1) % kRing;
      if (ring_[last].at + kUnreadWindow < now) break;
      least = std::min(least, ring_[last].unread);
    }
    return least;
  }

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
