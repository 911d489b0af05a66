// Counters and gauges that one thread writes and any thread reads.
//
// A single writer needs no locked instruction: a relaxed load and a relaxed store are two plain
// moves. A second writer would lose counts; give every worker its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::observe {

// Monotonic.
class Counter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// A current number.
class Gauge {
 public:
  void add(std::int64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void subtract(std::int64_t n = 1) { add(-n); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Adds one to the gauge for as long as it lives.
class Counted {
 public:
  explicit Counted(Gauge& gauge) : gauge_(gauge) { gauge_.add(); }
  ~Counted() { gauge_.subtract(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Gauge& gauge_;
};

}  // namespace spillway::observe
