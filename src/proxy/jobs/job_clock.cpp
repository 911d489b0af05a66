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
  if (is_of_store_ && answered - asked > kLong) return;
  is_of_store_ = true;
  set(told, asked + (answered - asked) / 2);
}

void JobClock::follow(jobs::WallTime machine, TimePoint now) {
  if (!is_of_store_) set(believed_.at(machine, now), now);
}

void JobClock::set(jobs::WallTime wall, TimePoint at) {
  zero_.store((wall.time_since_epoch() - since_zero(at)).count(), std::memory_order_relaxed);
}

}  // namespace spillway::proxy
