#include "proxy/jobs/job_clock.hpp"

#include <chrono>

namespace spillway::proxy {

namespace {

constexpr Duration kLong = std::chrono::seconds(1);

Milliseconds since_zero(TimePoint at) {
  return std::chrono::duration_cast<Milliseconds>(at.time_since_epoch());
}

}  // namespace

jobs::WallTime JobClock::now() const {
  const Milliseconds zero{zero_.load(std::memory_order_relaxed)};
  if (zero.count() != kUnknown) return jobs::WallTime(zero + since_zero(Clock::now()));
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
}

void JobClock::learn(jobs::WallTime told, TimePoint asked, TimePoint answered) {
  if (told == jobs::kNoTime) return;
  const bool is_known = zero_.load(std::memory_order_relaxed) != kUnknown;
  if (is_known && answered - asked > kLong) return;
  const TimePoint between = asked + (answered - asked) / 2;
  zero_.store((told.time_since_epoch() - since_zero(between)).count(), std::memory_order_relaxed);
}

}  // namespace spillway::proxy
