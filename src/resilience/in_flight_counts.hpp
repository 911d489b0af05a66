// Requests in flight per server of one upstream, over all workers: connections being established or
// in use. Thread-safe and lock-free; one cache line per server.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "resilience/rotation.hpp"

namespace spillway::resilience {

class InFlightCounts {
 public:
  // The number of trials of its server that had begun when a request was sent there.
  using Trial = std::uint32_t;

  explicit InFlightCounts(std::size_t servers) : counts_(servers) {}

  // To be passed to end().
  Trial begin(std::size_t server) {
    counts_[server].now.fetch_add(1, std::memory_order_relaxed);
    return counts_[server].trial.load(std::memory_order_relaxed);
  }
  void end(std::size_t server, Trial begun_in) {
    Count& count = counts_[server];
    if (begun_in != count.trial.load(std::memory_order_relaxed))
      count.former.fetch_sub(1, std::memory_order_relaxed);
    count.now.fetch_sub(1, std::memory_order_relaxed);
  }
  // A request that counted as ended continues after all.
  void resume(std::size_t server, Trial begun_in) {
    Count& count = counts_[server];
    if (begun_in != count.trial.load(std::memory_order_relaxed))
      count.former.fetch_add(1, std::memory_order_relaxed);
    count.now.fetch_add(1, std::memory_order_relaxed);
  }
  // Counts only if there are several servers.
  void count_success(std::size_t server) {
    if (counts_.size() > 1) counts_[server].succeeded.fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t succeeded(std::size_t server) const {
    return counts_[server].succeeded.load(std::memory_order_relaxed);
  }
  // Requests in flight there now were sent before the trial. One that begins or ends at the same
  // moment may be counted wrongly until the next trial.
  void begin_trial(std::size_t server) {
    Count& count = counts_[server];
    count.trial.fetch_add(1, std::memory_order_acq_rel);
    count.former.store(static_cast<std::int32_t>(count.now.load(std::memory_order_relaxed)),
                       std::memory_order_relaxed);
  }

  std::uint32_t operator[](std::size_t server) const {
    return counts_[server].now.load(std::memory_order_relaxed);
  }
  InFlight of(std::size_t server) const {
    const std::int32_t former = counts_[server].former.load(std::memory_order_relaxed);
    return {(*this)[server], static_cast<std::uint32_t>(std::max(former, 0))};
  }
  std::size_t servers() const { return counts_.size(); }

 private:
  struct alignas(64) Count {
    std::atomic<std::uint32_t> now{0};
    std::atomic<std::int32_t> former{0};  // of these, sent before the last trial began
    std::atomic<Trial> trial{0};
    std::atomic<std::uint64_t> succeeded{0};  // only grows
  };
  std::vector<Count> counts_;
};

// Counts as one request in flight at a server while this object lives.
class InFlightCount {
 public:
  InFlightCount(InFlightCounts& counts, std::size_t server)
      : counts_(counts), server_(server), trial_(counts_.begin(server)) {}
  ~InFlightCount() { counts_.end(server_, trial_); }
  InFlightCount(const InFlightCount&) = delete;
  InFlightCount& operator=(const InFlightCount&) = delete;

 private:
  InFlightCounts& counts_;
  std::size_t server_;
  InFlightCounts::Trial trial_;
};

}  // namespace spillway::resilience
