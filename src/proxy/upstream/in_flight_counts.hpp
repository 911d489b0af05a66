// Requests in flight per server of one upstream, over all workers: connections being established or
// in use. Thread-safe and lock-free; one cache line per server.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway::proxy {

class InFlightCounts {
 public:
  explicit InFlightCounts(std::size_t servers) : counts_(servers) {}

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
