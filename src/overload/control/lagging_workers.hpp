// Which workers lag: requests are refused for event-loop lag on these alone.
//
// Each worker reads the requests of its own connections, so refusals on other workers speed up none
// of those that wait for a lagging one. A worker lags while its lag is above the exit threshold,
// below which the state may end, and 20 s longer: its lag may be low because it refuses.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace spillway::overload {

class LaggingWorkers {
 public:
  // A worker counts for this long after its lag: as long as ShareRegulator counts a busy loop.
  static constexpr Duration kLatelyLagged = std::chrono::seconds(20);

  // Call every tick. `lags`: by worker, in seconds, the same workers each time; `above`: a worker
  // with a larger lag is lagging. Without either, all workers are. Returns whether the set of
  // lagging workers has changed. `now` never goes back.
  bool step(std::span<const double> lags, std::optional<double> above, TimePoint now) {
    workers_.resize(above ? lags.size() : 0);
    bool is_changed = false;
    for (std::size_t n = 0; n < workers_.size(); ++n) {
      Worker& its = workers_[n];
      if (lags[n] > *above) its.until = now + kLatelyLagged;
      is_changed |= std::exchange(its.lags, now < its.until) != its.lags;
    }
    return is_changed;
  }

  bool lags(std::size_t worker) const { return worker >= workers_.size() || workers_[worker].lags; }

 private:
  struct Worker {
    TimePoint until{};
    bool lags = false;
  };
  std::vector<Worker> workers_;
};

}  // namespace spillway::overload
