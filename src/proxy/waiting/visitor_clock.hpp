// The clock of waiting rooms: the time of day at the start of the process, plus the time since. It
// does not step, and what it said before a restart is past after it.
#pragma once

#include <chrono>

#include "base/time.hpp"
#include "waiting/ticket.hpp"

namespace spillway::proxy {

class VisitorClock {
 public:
  VisitorClock()
      : started_(Clock::now()),
        wall_(std::chrono::floor<Milliseconds>(std::chrono::system_clock::now())) {}

  waiting::Time at(TimePoint now) const {
    return wall_ + std::chrono::duration_cast<Milliseconds>(now - started_);
  }

 private:
  TimePoint started_;
  waiting::Time wall_;
};

}  // namespace spillway::proxy
