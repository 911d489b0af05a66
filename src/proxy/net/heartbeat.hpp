// A count that a loop raises each time round, so that others can see that it still turns.
//
// Written by one thread, read by any; says nothing about the order of other memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::proxy {

class Heartbeat {
 public:
  // On the loop's own thread.
  void beat() { count_.store(count() + 1, std::memory_order_relaxed); }
  // 0 before the first.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace spillway::proxy
