// A counter with one writer: no read-modify-write instruction is needed. It only grows, and wraps.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::overload {

class ShardCounter {
 public:
  void add() { value_.store(get() + 1, std::memory_order_relaxed); }
  void set(std::uint32_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint32_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

}  // namespace spillway::overload
