#include "proxy/jobs/job_clock.hpp"

#include <chrono>

namespace spillway::proxy {

namespace {

constexpr Duration kLong = std::chrono::seconds(1);
// If the machine's clock differs by less than this, this clock just goes on: two jobs that are
// accepted one after the other keep their order.
constexpr Milliseconds kNear{10};

Milliseconds since_zero(TimePoint at) {
  return std::chrono::duration_cast<Milliseconds>(at.time_since_epoch());
}

}  // namespace

JobClock::JobClock() {
  set(std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now()), Clock::now());
}

jobs::WallTime JobClock::now() const { return at(Clock::now()); }

jobs::WallTime JobClock::at(TimePoint time) const {
  return jobs::WallTime(Milliseconds(zero_.load(std::memory_order_relaxed)) + since_zero(time));
}

void JobClock::learn(jobs::WallTime told, TimePoint asked, TimePoint answered) {
  if (told == jobs::kNoTime) return;
  if (is_of_store_ && answered - asked > kLong) return;
  is_of_store_ = true;
  set(told, asked + (answered - asked) / 2);
}

void JobClock::follow(jobs::WallTime machine, TimePoint now) {
  const jobs::WallTime believed = believed_.at(machine, now);
  const Milliseconds off = believed - at(now);
  if (!is_of_store_ && std::chrono::abs(off) > kNear) set(believed, now);
}

void JobClock::set(jobs::WallTime wall, TimePoint at) {
  zero_.store((wall.time_since_epoch() - since_zero(at)).count(), std::memory_order_relaxed);
}

}  // namespace spillway::proxy
