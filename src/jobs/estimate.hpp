// When a job that waits will be done: its position over the rate at which jobs have ended lately.
//
// The rate is an exponentially weighted average (kMemory), over the time
// in which there was work: a queue that was empty all night is not slow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::jobs {

class Estimate {
 public:
  static constexpr Duration kMemory = std::chrono::seconds(60);
  static constexpr Milliseconds kLongest = std::chrono::hours(1);

  // To be called at least every few seconds. `ended`: the jobs that ended since the last call;
  // `had_work`: some waited or were under way. The first call only begins; a clock that goes back
  // is taken to stand still.
  void observe(std::uint64_t ended, bool had_work, TimePoint now) {
    const double passed = last_ ? std::max(to_seconds(now - *last_), 0.0) : 0.0;
    const bool is_first = !last_;
    last_ = last_ ? std::max(*last_, now) : now;
    if (is_first || (ended == 0 && !had_work)) return;
    const double kept = std::exp(-passed / to_seconds(kMemory));
    time_ = time_ * kept + to_seconds(kMemory) * (1 - kept);
    jobs_ = jobs_ * kept + static_cast<double>(ended);
  }

  // Jobs per second; nullopt: not known yet.
  std::optional<double> rate() const {
    if (time_ < kKnownTime || jobs_ <= 0) return std::nullopt;
    return jobs_ / time_;
  }

  // Until the job at `position` (1: the next) has ended; in [0, kLongest]. nullopt: not known yet,
  // or the position is 0, which is none.
  std::optional<Milliseconds> wait(std::uint64_t position) const {
    const std::optional<double> known = rate();
    if (!known || position == 0) return std::nullopt;
    const double longest = static_cast<double>(kLongest.count());
    const double wait = std::ceil(1000.0 * static_cast<double>(position) / *known);
    return wait < longest ? Milliseconds(static_cast<std::int64_t>(wait)) : kLongest;
  }

  // For Retry-After, in [1 s, 1 h]; `otherwise` where wait() knows nothing.
  std::chrono::seconds retry_after(std::uint64_t position, std::chrono::seconds otherwise) const {
    const std::optional<Milliseconds> known = wait(position);
    const auto seconds = known ? std::chrono::ceil<std::chrono::seconds>(*known) : otherwise;
    return std::clamp<std::chrono::seconds>(seconds, std::chrono::seconds(1),
                                            std::chrono::hours(1));
  }

 private:
  // Less than a second with work is not evidence; weighted, that is a little less.
  static constexpr double kKnownTime = 0.99;

  std::optional<TimePoint> last_;
  double time_ = 0;  // seconds with work, weighted
  double jobs_ = 0;  // that ended in them, weighted likewise
};

}  // namespace spillway::jobs
