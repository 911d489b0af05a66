// How often a ticket may be asked after: kTimes as often as its holder was told, and kAtOnce times
// at once. A leaky bucket. The page asks once an interval; so several tabs, reloads and impatient
// visitors stay well below, and a program that asks in a loop does not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::waiting {

class PollLimit {
 public:
  static constexpr std::int64_t kTimes = 10;
  static constexpr std::int64_t kAtOnce = 30;

  // That time has passed, in which one was to ask every `told`.
  void pass(Milliseconds time, Milliseconds told) {
    // Nothing was told yet, to a ticket that was restored: workers' clocks differ by milliseconds.
    if (told.count() <= 0 || time * kTimes >= told * kAtOnce) {
      level_ = 0;
      return;
    }
    const std::int64_t drained = time.count() * kTimes * kPoll / told.count();
    level_ -= static_cast<std::uint32_t>(std::clamp<std::int64_t>(drained, 0, level_));
  }
  // One more. false: it is one too many, and is not counted.
  bool take() {
    if (level_ > (kAtOnce - 1) * kPoll) return false;
    level_ += kPoll;
    return true;
  }

 private:
  static constexpr std::int64_t kPoll =
      1'000'000;  // of an hour a millisecond drains a part of a poll

  std::uint32_t level_ = 0;
};

}  // namespace spillway::waiting
