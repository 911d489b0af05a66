// How many requests each server of an upstream has in flight, over all workers: its connections
// that are being made or in use. Shared, lock-free; a cache line each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::proxy {

class InFlight {
 public:
  explicit InFlight(std::size_t servers) : counts_(servers) {}

  void begin(std::size_t server) { counts_[server].now.fetch_add(1, std::memory_order_relaxed); }
  void end(std::size_t server) { counts_[server].now.fetch_sub(1, std::memory_order_relaxed); }

  std::uint32_t operator[](std::size_t server) const {
    return counts_[server].now.load(std::memory_order_relaxed);
  }
  std::size_t servers() const { return counts_.size(); }

 private:
  struct alignas(64) Count {
    std::atomic<std::uint32_t> now{0};
  };
  std::vector<Count> counts_;
};

}  // namespace spillway::proxy
