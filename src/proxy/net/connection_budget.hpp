// Connection limits of one upstream over all workers. Thread-safe and lock-free.
//
// At most `most_open` are open, busy and idle together, and at most `most_idle` are idle. With an
// automatic concurrency limit, fewer may be needed: follow().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "proxy/net/capped_counter.hpp"

namespace spillway::proxy {

// Connections that an upstream may have open in addition to one per slot: workers share none, so
// each keeps one to each server for its next request, or has one that is about to close.
constexpr std::uint32_t spare_connections(std::size_t workers, std::size_t servers) {
  return static_cast<std::uint32_t>(workers * servers);
}

class ConnectionBudget {
 public:
  ConnectionBudget(std::uint32_t most_open, std::uint32_t most_idle)
      : most_open_(most_open), most_idle_(most_idle), needed_(most_open) {}

  // That many may be needed from now on. Control thread only.
  void follow(std::uint32_t needed, TimePoint now);
  // At least as many as are needed are open.
  bool is_full() const { return open() >= needed_.load(std::memory_order_relaxed); }
  bool is_over() const { return open() > needed_.load(std::memory_order_relaxed); }

  bool try_open() { return open_.try_increment(most_open_); }
  void closed() { open_.decrement(); }
  bool try_idle() { return idle_.try_increment(most_idle_); }
  void not_idle() { idle_.decrement(); }

  std::uint32_t open() const { return open_.count(); }
  std::uint32_t idle() const { return idle_.count(); }

 private:
  CappedCounter open_;
  CappedCounter idle_;
  std::uint32_t most_open_;
  std::uint32_t most_idle_;
  std::atomic<std::uint32_t> needed_;  // the maximum within kMemory
  TimePoint needed_since_{};           // control thread only
  static constexpr Duration kMemory = std::chrono::seconds(10);
};

}  // namespace spillway::proxy
