// Chooses the worker for a new connection: of those that keep up, the one with the fewest.
//
// A connection stays with its worker until it ends. If only the number counted, a worker whose
// connections demand more than it can handle would get as many new ones as an idle worker.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"

namespace spillway::proxy {

struct WorkerLoad {
  std::uint32_t connections = 0;
  Duration lag{0};  // of its event loop
};

// A worker does not keep up if its lag exceeds the smallest lag by more than this.
inline constexpr Milliseconds kBehind{100};

// `workers` must not be empty; of equal ones the first is chosen.
inline std::size_t next_worker(std::span<const WorkerLoad> workers) {
  const Duration most = std::ranges::min(workers, {}, &WorkerLoad::lag).lag + kBehind;
  std::size_t next = workers.size();
  for (std::size_t n = 0; n < workers.size(); ++n) {
    if (workers[n].lag >= most) continue;
    if (next == workers.size() || workers[n].connections < workers[next].connections) next = n;
  }
  return next;
}

}  // namespace spillway::proxy
