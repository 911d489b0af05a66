// One worker's counters for one upstream, collected by the control tick.
//
// One writer (the worker), any number of readers; every counter only grows (and may wrap), so
// a reader takes differences. No call blocks, allocates or costs more than a few nanoseconds,
// except publish_ages (a sweep's work).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"
#include "overload/histogram.hpp"

namespace spillway::overload {

// A counter with one writer: no read-modify-write instruction is needed.
class ShardCounter {
 public:
  void add() { value_.store(get() + 1, std::memory_order_relaxed); }
  void set(std::uint32_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint32_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

using ShardBuckets = std::array<ShardCounter, kBucketCount>;

class alignas(64) SignalShard {
 public:
  // From dispatch to the response head of a forwarded request. Not for streams past their head,
  // upgraded connections, or requests whose client left.
  void record_latency(Duration d) { latency_[bucket_of(d)].add(); }

  // How long a request waited for its slot (zero when it got one at once), or until it was evicted
  // or its wait timed out.
  void record_wait(Duration d) { wait_[bucket_of(d)].add(); }

  // The upstream finished (false) or failed (true: a 5xx, a reset, a timeout) a request.
  // Client errors are not failures; our own refusals are not recorded at all.
  void record_result(bool failed) { (failed ? failed_ : succeeded_).add(); }

  // A request that the upstream would have been asked for: it comes to the gate, or a rule refuses
  // or degrades it.
  void record_offered() { offered_.add(); }
  void record_admitted() { admitted_.add(); }  // it got a slot

  // The ages of all requests dispatched and still waiting for their response head; replaces those
  // of the last call.
  void publish_ages(std::span<const Duration> ages) {
    ShardBuckets& next = ages_[1 - current_ages_.load(std::memory_order_relaxed)];
    for (ShardCounter& counter : next) counter.set(0);
    for (const Duration age : ages) next[bucket_of(age)].add();
    current_ages_.store(1 - current_ages_.load(std::memory_order_relaxed),
                        std::memory_order_release);
  }

  const ShardBuckets& latency() const { return latency_; }
  const ShardBuckets& wait() const { return wait_; }
  // Steady for at least one sweep after the call.
  const ShardBuckets& ages() const { return ages_[current_ages_.load(std::memory_order_acquire)]; }
  std::uint32_t succeeded() const { return succeeded_.get(); }
  std::uint32_t failed() const { return failed_.get(); }
  std::uint32_t offered() const { return offered_.get(); }
  std::uint32_t admitted() const { return admitted_.get(); }

 private:
  ShardCounter succeeded_, failed_, offered_, admitted_;
  std::atomic<std::uint32_t> current_ages_{0};
  ShardBuckets latency_;
  ShardBuckets wait_;
  std::array<ShardBuckets, 2> ages_;
};

}  // namespace spillway::overload
