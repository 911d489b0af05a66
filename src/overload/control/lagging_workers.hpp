// Which workers lag: on these alone requests are refused for event-loop lag.
//
// Each worker reads the requests of its own connections, so to refuse what the others read makes
// none that waits for this one quicker. A worker lags while its lag is above the exit threshold,
// which is where the state may end, and for 20 s after that: its lag is low because it refuses.
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
  // For so long after its lag a worker counts: as ShareRegulator knows a busy loop.
  static constexpr Duration kLatelyLagged = std::chrono::seconds(20);

  // Every tick. `lags`: by worker, in seconds, the same workers each time; `above`: a worker with
  // more lags. Without either all do. True: it is not the same workers as before. `now` never goes
  // back.
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
