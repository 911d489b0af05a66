// The wall clock as used for jobs: a step forward counts only once it has lasted for an hour. So a
// clock that is wrong for some minutes, or a machine that gets the time only after its start, makes
// no job expire and deletes no answer. A step back counts at once: it deletes nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"
#include "jobs/job.hpp"

namespace spillway::jobs {

class BelievedTime {
 public:
  static constexpr std::chrono::minutes kStep{1};  // smaller differences are not steps
  static constexpr std::chrono::hours kProof{1};

  // The wall clock shows `told`. Must be called in the order of `now`.
  WallTime at(WallTime told, TimePoint now) {
    const WallTime passed = time_ + std::chrono::floor<Milliseconds>(now - asked_);
    const bool steps = time_ != kNoTime && told - passed > kStep;
    if (!steps) {
      doubted_.reset();
    } else if (!doubted_) {
      doubted_ = now;
    }
    const bool is_proved = doubted_ && now - *doubted_ >= kProof;
    if (is_proved) doubted_.reset();
    time_ = steps && !is_proved ? passed : told;
    asked_ = now;
    return time_;
  }

 private:
  WallTime time_ = kNoTime;  // the time believed at asked_
  TimePoint asked_{};
  std::optional<TimePoint> doubted_{};  // since when a step is doubted
};

}  // namespace spillway::jobs
