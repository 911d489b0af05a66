// Jobs at moments of their lives, for tests.
#pragma once

#include "jobs/life.hpp"

namespace spillway::jobs {

inline const WallTime kNow = WallTime(std::chrono::hours(500'000));
inline const WallTime kLater = kNow + std::chrono::hours(24);  // when the job's time is over

inline Progress leased(std::uint32_t attempts = 0, std::uint32_t recoveries = 0) {
  Progress job;
  job.state = JobState::leased;
  job.due = kNow - std::chrono::seconds(5);
  job.attempts = attempts;
  job.recoveries = recoveries;
  job.cause = attempts > 0 ? Cause::failed : Cause::none;
  return job;
}

inline Progress in_state(JobState state) {
  Progress job = leased(2, 1);
  job.state = state;
  if (has_ended(state)) job.ended = kNow - std::chrono::seconds(1);
  return job;
}

// After an attempt that ended now.
inline Progress after(const Progress& before, const AttemptEnd& end, const Policy& policy = {},
                      std::uint64_t seed = 1, WallTime expires = kLater) {
  Random random(seed);
  return after_attempt(before, end, policy, expires, kNow, random);
}

}  // namespace spillway::jobs
