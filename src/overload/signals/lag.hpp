// Event-loop lag of one worker: how long a new request waits until the loop begins it, over the
// last second; and the share of time for which the loop's thread runs, which distinguishes a loop
// with too much work from one whose CPU core is taken by something else.
//
// The lag is the larger of two waits, sampled by a 10 ms timer: how late the timer fires, and how
// long the oldest request that has not begun has been waiting. A loop turn begins a few such
// requests and then runs its timers, so a loop that cannot keep up with new requests still fires
// its timer in time. Of the second wait the minimum over a short time counts, as in CoDel (Nichols,
// Jacobson, "Controlling Queue Delay", ACM Queue 2012): a short burst is no lag, and a drop in load
// shows at once.
//
// Owned by one worker, which publishes the values itself (in atomics that the tick reads).
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
  static constexpr Milliseconds kUnreadWindow{200};  // for the wait of requests

  // The timer fired `lateness` after it should have (negative counts as zero); the oldest request
  // that has not begun has been waiting for `unread`.
  void record(Duration lateness, Duration unread, TimePoint now) {
    ring_[next_] = {now, std::max(lateness, Duration{0}), unread};
    next_ = (next_ + 1) % ring_.size();
    size_ = std::min(size_ + 1, ring_.size());
  }

  // The larger of two values: the p90 of the timer's lateness over the last second, and the minimum
  // of the oldest request's wait over the firings of the last 200 ms. nullopt until twenty periods
  // were observed; a loop that stalls covers many periods with few firings.
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

  // Requires that the timer has fired at least once.
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

  static constexpr std::size_t kRing = 128;  // one second of firings and some to spare

  std::array<Firing, kRing> ring_{};
  std::size_t next_ = 0;
  std::size_t size_ = 0;
};

// The share of time for which the loop's thread has run, [0, 1]: a mean over about a second.
class LoopUse {
 public:
  // `ran`: the thread's running time since its start.
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
