// When the clock by which jobs are due is set back. A store whose clock is that of its process
// turns the due times back with it: what was due in a second is due in a second, and what was due
// already is due. Steps forward come late (jobs/believed_time.hpp).
#pragma once

#include <algorithm>
#include <chrono>

#include "jobs/job.hpp"

namespace spillway::store {

class ClockSteps {
 public:
  // By how much it was set back since `latest`; a smaller step is waited out.
  std::chrono::milliseconds back(jobs::WallTime now) const {
    return latest_ - now >= kLeast ? latest_ - now : std::chrono::milliseconds{0};
  }
  // It was that time when something was written, maybe by a process before this one.
  void saw(jobs::WallTime time) { latest_ = std::max(latest_, time); }
  // What was turned back is written.
  void settled(jobs::WallTime now) { latest_ = now; }

 private:
  static constexpr std::chrono::milliseconds kLeast{1000};

  jobs::WallTime latest_{};
};

}  // namespace spillway::store
