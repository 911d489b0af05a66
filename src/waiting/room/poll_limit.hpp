// How often a ticket may be polled: kTimes as often as its visitor was told, in bursts of up to
// kAtOnce. A leaky bucket. The page polls once per interval; so several tabs, reloads and impatient
// visitors stay well below, and a program that polls in a loop does not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::waiting {

class PollLimit {
 public:
  static constexpr std::int64_t kTimes = 10;
  static constexpr std::int64_t kAtOnce = 30;

  // Time has passed in which the visitor was to poll once every `told`.
  void pass(Milliseconds time, Milliseconds told) {
    // A restored ticket has no interval yet, and workers' clocks differ by milliseconds.
    if (told.count() <= 0 || time * kTimes >= told * kAtOnce) {
      level_ = 0;
      return;
    }
    const std::int64_t drained = time.count() * kTimes * kPoll / told.count();
    level_ -= static_cast<std::uint32_t>(std::clamp<std::int64_t>(drained, 0, level_));
  }
  // One more poll. false: it is over the limit, and is not counted.
  bool take() {
    if (level_ > (kAtOnce - 1) * kPoll) return false;
    level_ += kPoll;
    return true;
  }

 private:
  static constexpr std::int64_t kPoll =
      1'000'000;  // at an interval of an hour, a millisecond still drains a part

  std::uint32_t level_ = 0;
};

}  // namespace spillway::waiting
