// When the service manager's watchdog is fed: half an interval after the last time, but only once
// every loop has turned since then. One that hangs stops the feeding, and the service manager
// restarts the process when the interval is over; one that was only slow is fed as soon as it has
// turned. Decides only: time is an argument.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "proxy/net/heartbeat.hpp"

namespace spillway::proxy {

class Watchdog {
 public:
  // `interval`: without food for so long the process is ended. The loops outlive this.
  Watchdog(Duration interval, std::vector<const Heartbeat*> loops, TimePoint now);

  // True: feed it now.
  bool may_feed(TimePoint now);
  // When to ask again: as it comes due, and every sixteenth of the interval from then on.
  TimePoint ask_at() const { return ask_at_; }

 private:
  bool all_turned() const;

  Duration interval_;
  std::vector<const Heartbeat*> loops_;
  std::vector<std::uint64_t> counts_;  // when it was last fed
  TimePoint ask_at_;
};

}  // namespace spillway::proxy
