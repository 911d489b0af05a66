// A counter that a loop increments regularly, so that a watchdog sees whether it still runs.
//
// One writer, any number of readers; relaxed, so it orders no other memory accesses.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::proxy {

class Heartbeat {
 public:
  // Loop thread only.
  void beat() { count_.store(count() + 1, std::memory_order_relaxed); }
  // Beats so far.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace spillway::proxy
