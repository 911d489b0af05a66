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
#include "overload/signals/answer_source.hpp"
#include "overload/signals/class_answers.hpp"
#include "overload/signals/histogram.hpp"
#include "overload/signals/shard_counter.hpp"

namespace spillway::overload {

using ShardBuckets = std::array<ShardCounter, kBucketCount>;

// A latency as a multiple of its route's usual latency at low load, encoded as a duration: 1 is 10
// ms.
inline Duration relative_as_duration(double times) { return from_seconds(times / 100); }

class alignas(64) SignalShard {
 public:
  // From dispatch to the response head of a forwarded request. Not for streams past their head,
  // upgraded connections, or requests whose client left.
  void record_latency(Duration d) { latency_[bucket_of(d)].add(); }
  // The same as a multiple of the route's usual latency at low load, where that is known.
  void record_relative_latency(double times) {
    relative_[bucket_of(relative_as_duration(times))].add();
  }

  // How long a request waited for its slot (zero when it got one at once), or until it was evicted
  // or its wait timed out.
  void record_wait(Duration d) { wait_[bucket_of(d)].add(); }

  // The upstream finished (false) or failed (true: a 5xx, a reset, a timeout) a request.
  // Client errors are not failures; our own refusals are not recorded at all.
  void record_result(bool failed) { (failed ? failed_ : succeeded_).add(); }
  void record_result(bool failed, const AnswerSource& source) {
    record_result(failed);
    ClassCounter& of_class = by_class_[index(source.traffic_class)];
    (failed ? of_class.failed : of_class.succeeded).add();
    sources_.record(source, failed);
  }

  // A failure of record_result() whose cause is that no response came in time.
  void record_timeout() { timed_out_.add(); }

  // A request meant for the upstream: it comes to the gate, or a rule refuses or degrades
  // it.
  void record_offered() { offered_.add(); }
  void record_admitted() { admitted_.add(); }  // it got a slot

  // The ages of all requests dispatched and still waiting for their response head; replaces those
  // of the last call. `relative`: the same ages in the unit of record_relative_latency().
  void publish_ages(std::span<const Duration> ages, std::span<const double> relative = {}) {
    Ages& next = ages_[1 - current_ages_.load(std::memory_order_relaxed)];
    for (std::size_t i = 0; i < kBucketCount; ++i) {
      next.absolute[i].set(0);
      next.relative[i].set(0);
    }
    for (const Duration age : ages) next.absolute[bucket_of(age)].add();
    for (const double times : relative) next.relative[bucket_of(relative_as_duration(times))].add();
    current_ages_.store(1 - current_ages_.load(std::memory_order_relaxed),
                        std::memory_order_release);
  }

  const ShardBuckets& latency() const { return latency_; }
  const ShardBuckets& relative_latency() const { return relative_; }
  const ShardBuckets& wait() const { return wait_; }
  // Unchanged for at least one sweep after the call.
  const ShardBuckets& ages() const { return current_ages().absolute; }
  const ShardBuckets& relative_ages() const { return current_ages().relative; }
  const SourceCounts& sources() const { return sources_; }
  // The results whose source is known, by class.
  ClassAnswers class_answers() const {
    ClassAnswers answers;
    for (std::size_t i = 0; i < by_class_.size(); ++i)
      answers.by[i] = {by_class_[i].succeeded.get(), by_class_[i].failed.get()};
    return answers;
  }
  std::uint32_t succeeded() const { return succeeded_.get(); }
  std::uint32_t failed() const { return failed_.get(); }
  std::uint32_t timed_out() const { return timed_out_.get(); }
  std::uint32_t offered() const { return offered_.get(); }
  std::uint32_t admitted() const { return admitted_.get(); }

 private:
  struct ClassCounter {
    ShardCounter succeeded, failed;
  };
  struct Ages {
    ShardBuckets absolute, relative;
  };
  const Ages& current_ages() const { return ages_[current_ages_.load(std::memory_order_acquire)]; }

  ShardCounter succeeded_, failed_, timed_out_, offered_, admitted_;
  std::array<ClassCounter, kMaxClasses> by_class_;
  std::atomic<std::uint32_t> current_ages_{0};
  ShardBuckets latency_;
  ShardBuckets relative_;
  ShardBuckets wait_;
  std::array<Ages, 2> ages_;
  SourceCounts sources_;
};

}  // namespace spillway::overload
