// The clock of waiting rooms: the time of day at the start of the process, plus the time since. It
// does not step. After a restart its earlier times are in the past; if places are stored, even if
// the time of day was set back meanwhile. Proxies that share waiting rooms follow the database's
// time of day: then the clock may step by the error of its own time, and its users make sure that
// the time of a room never steps back.
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
  // At `now` the other clock showed that time.
  void follow(waiting::Time elsewhere, TimePoint now) {
    ahead_.fetch_add((elsewhere - at(now)).count(), std::memory_order_relaxed);
  }

 private:
  TimePoint started_;
  waiting::Time wall_;
  std::atomic<std::int64_t> ahead_{0};  // milliseconds
};

}  // namespace spillway::proxy
