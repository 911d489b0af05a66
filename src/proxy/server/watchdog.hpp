// When to feed the service manager's watchdog: half an interval after the last time, but only once
// every loop has beaten since. While a loop hangs the watchdog is not fed, and the service manager
// restarts the process after the interval; a loop that was only slow delays feeding until it beats.
// Pure: time is an argument.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "proxy/net/heartbeat.hpp"

namespace spillway::proxy {

class Watchdog {
 public:
  // `interval`: the service manager's timeout. The loops must outlive this.
  Watchdog(Duration interval, std::vector<const Heartbeat*> loops, TimePoint now);

  // True: feed it now.
  bool may_feed(TimePoint now);
  // When to call may_feed() next: when it is due, then every sixteenth of the interval.
  TimePoint next_check() const { return next_check_; }

 private:
  bool all_beat() const;

  Duration interval_;
  std::vector<const Heartbeat*> loops_;
  std::vector<std::uint64_t> counts_;  // beats when last fed
  TimePoint next_check_;
};

}  // namespace spillway::proxy
