// Detects that the clock by which jobs are due was set back. A store on its process's clock shifts
// the due times back with it: a job due in a second is still due in a second, and one already due
// stays due. Steps forward are believed late (jobs/believed_time.hpp).
#pragma once

#include <algorithm>
#include <chrono>

#include "jobs/job.hpp"

namespace spillway::store {

class ClockSteps {
 public:
  // By how much it was set back since `latest_`; a smaller step is simply waited out.
  std::chrono::milliseconds back(jobs::WallTime now) const {
    return latest_ - now >= kLeast ? latest_ - now : std::chrono::milliseconds{0};
  }
  // The clock's time when something was written, perhaps by an earlier process.
  void saw(jobs::WallTime time) { latest_ = std::max(latest_, time); }
  // The shifted times have been written.
  void settled(jobs::WallTime now) { latest_ = now; }

 private:
  static constexpr std::chrono::milliseconds kLeast{1000};

  jobs::WallTime latest_{};
};

}  // namespace spillway::store
