// Which worker gets the next client connection: of those that keep up the one with the fewest.
//
// A connection stays with its worker for as long as it lasts. If the number alone counted, a worker
// whose connections ask for more than it can do would get as many new ones as one that is idle.
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

// A worker does not keep up that lags by so much more than the one that lags least.
inline constexpr Milliseconds kBehind{100};

// Of at least one; among equals the first.
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
