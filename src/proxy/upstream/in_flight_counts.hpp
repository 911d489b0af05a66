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

// One request more at a server, for as long as this lives.
class InFlightCount {
 public:
  InFlightCount(InFlightCounts& counts, std::size_t server) : counts_(counts), server_(server) {
    counts_.begin(server_);
  }
  ~InFlightCount() { counts_.end(server_); }
  InFlightCount(const InFlightCount&) = delete;
  InFlightCount& operator=(const InFlightCount&) = delete;

 private:
  InFlightCounts& counts_;
  std::size_t server_;
};

}  // namespace spillway::proxy
