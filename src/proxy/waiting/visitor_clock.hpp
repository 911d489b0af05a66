// The clock of waiting rooms: the time of day at the start of the process, plus the time since. It
// does not step, and what it said before a restart is past after it, where places are written down
// also if the time of day was set back meanwhile. Proxies that share waiting
// rooms have the database's time of day, which each follows: there it may step by what its own
// clock was off, and who keeps time sees to it that that is never back.
#pragma once

#include <atomic>
#include <chrono>

#include "base/time.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::proxy {

class VisitorClock {
 public:
  VisitorClock()
      : started_(Clock::now()),
        wall_(std::chrono::floor<Milliseconds>(std::chrono::system_clock::now())) {}

  waiting::Time at(TimePoint now) const {
    return wall_ + Milliseconds(ahead_.load(std::memory_order_relaxed)) +
           std::chrono::duration_cast<Milliseconds>(now - started_);
  }
  // At `now` it was that time elsewhere.
  void follow(waiting::Time elsewhere, TimePoint now) {
    ahead_.fetch_add((elsewhere - at(now)).count(), std::memory_order_relaxed);
  }

 private:
  TimePoint started_;
  waiting::Time wall_;
  std::atomic<std::int64_t> ahead_{0};  // milliseconds
};

}  // namespace spillway::proxy
