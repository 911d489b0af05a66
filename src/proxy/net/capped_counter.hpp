// A counter that many threads increment up to a cap: how many permits of a shared limit are taken.
//
// Lock-free and thread-safe; relaxed, so it orders no other memory accesses.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::proxy {

class CappedCounter {
 public:
  // False, and no change, at `cap` or above. The cap may differ from call to call: a lower one
  // takes no permits back.
  bool try_increment(std::uint32_t cap) {
    std::uint32_t count = count_.load(std::memory_order_relaxed);
    while (count < cap) {
      if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  // Once for each try_increment() that succeeded.
  void decrement() { count_.fetch_sub(1, std::memory_order_relaxed); }
  std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace spillway::proxy
