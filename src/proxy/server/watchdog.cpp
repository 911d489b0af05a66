#include "proxy/server/watchdog.hpp"

#include <cstddef>
#include <utility>

namespace spillway::proxy {

Watchdog::Watchdog(Duration interval, std::vector<const Heartbeat*> loops, TimePoint now)
    : interval_(interval), loops_(std::move(loops)), next_check_(now + interval / 2) {
  for (const Heartbeat* loop : loops_) counts_.push_back(loop->count());
}

bool Watchdog::may_feed(TimePoint now) {
  if (now < next_check_) return false;
  if (!all_beat()) {
    next_check_ = now + interval_ / 16;
    return false;
  }
  for (std::size_t i = 0; i < loops_.size(); ++i) counts_[i] = loops_[i]->count();
  next_check_ = now + interval_ / 2;
  return true;
}

bool Watchdog::all_beat() const {
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (loops_[i]->count() == counts_[i]) return false;
  }
  return true;
}

}  // namespace spillway::proxy
