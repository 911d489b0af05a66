// The overload signals of one upstream: one set of values per tick, from the differences of all
// workers' counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/class_answers.hpp"
#include "overload/signals/histogram.hpp"
#include "overload/signals/quiet_baseline.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/source_window.hpp"
#include "overload/signals/tenant_shard.hpp"

namespace spillway::overload {

// With fewer samples than this in the window there is no evidence.
inline constexpr std::uint64_t kEnoughSamples = 20;
// For latency_p95_ratio: with fewer samples a single slow answer decides the p95.
inline constexpr std::uint64_t kEnoughForRatio = 60;

// Share of the slots: with fewer in use, latencies are those of an idle upstream.
inline constexpr double kLowLoad = 0.5;

// nullopt is "no evidence": it never reaches an enter threshold and satisfies every exit one.
struct OverloadSignals {
  // Requests in flight as a share of the concurrency cap, or of the slots reserved for no class
  // where that share is larger; mean over about 2 s.
  std::optional<double> inflight_ratio;
  std::optional<double> queue_ratio;     // waiters / max_queue: the largest of the classes and of
                                         // their sum; mean over 0.5 s
  std::optional<double> queue_wait_p95;  // seconds
  std::optional<double> latency_p95;     // seconds, dispatch to response head
  std::optional<double> latency_p99;     // seconds
  // p95 / p95 at low load, both of latencies relative to their routes' usual ones; with few samples
  // a lower quantile.
  std::optional<double> latency_p95_ratio;
  // Failed / finished by the upstream, without the requests of the sources in `left_out`.
  std::optional<double> error_rate;
  std::optional<double> total_error_rate;  // of all requests
  std::optional<double> timeout_rate;      // the part of `error_rate` without a response in time
  std::optional<LeftOut> left_out;         // the few sources that cause the errors
  bool errors_of_one_source = false;       // their errors would exceed the threshold (SourceAlarm)
  std::optional<double> event_loop_lag;    // seconds, of the worst worker
  std::optional<double> event_loop_use;    // share of time for which its thread ran, [0, 1]
  std::optional<double> offered_load;      // work offered / work that the upstream can do
  double offered_rate = 0;                 // requests per second over the window
  double admitted_rate = 0;
  double completed_rate = 0;
  // Completions of requests that had a slot. In shadow mode, of those that would have had one:
  // there the others are completed as well.
  double served_rate = 0;
  double inflight = 0;         // requests, mean over about 2 s
  ClassAnswers class_answers;  // all so far, including those of `left_out`

  // Whether latencies may be taken as the usual ones now.
  bool is_low_load() const { return inflight_ratio && *inflight_ratio < kLowLoad; }
};

// The upstream's servers in rotation.
struct InRotation {
  std::size_t servers = 1;
  std::size_t in = 1;           // of these, at least 1
  std::uint32_t elsewhere = 0;  // requests in flight at servers out of rotation
  double part = 1;              // share of all servers' slots that these have, above 0
};

// The totals of one of several servers, and its requests in flight now.
struct ServerTick {
  std::uint64_t succeeded = 0;  // responses other than 5xx; only grows
  std::uint32_t in_flight = 0;
  bool is_in = true;  // in rotation
};

// `usable`: how many of `slots` may be used now, including those that requests `elsewhere` hold.
constexpr double part_in_rotation(std::uint32_t usable, std::uint32_t elsewhere,
                                  std::uint32_t slots) {
  const std::uint32_t theirs = usable > elsewhere ? usable - elsewhere : 1;
  return theirs < slots ? double(theirs) / double(slots) : 1;
}

struct TickInput {
  std::span<const SignalShard* const> shards;    // the same ones in every tick
  double busy_slot_seconds = 0;                  // integral of running slots over time; only grows
  double shared_slot_seconds = 0;                // the part beyond slots reserved for their class
  double reserved = 0;                           // slots of the cap that are reserved for any class
  double concurrency = 1;                        // the current cap of the servers in rotation
  std::uint32_t awaiting_client = 0;             // slots whose requests wait for their clients
  std::uint32_t behind_others = 0;               // slots whose requests wait long for a response
  std::span<const std::uint32_t> queued;         // by class
  std::span<const std::uint32_t> max_queue;      // by class
  std::optional<double> event_loop_lag;          // seconds, of the worst worker
  std::span<const double> event_loop_lags = {};  // seconds, by worker; empty: all alike
  std::optional<double> event_loop_use;          // [0, 1]
  std::span<const std::uint64_t> started = {};   // by class: requests that got a slot; only grows
  std::span<const double> predicted_wait = {};   // by class, seconds, for a request that comes now
  std::span<const TenantShard* const> tenants = {};  // the same ones in every tick
  bool has_refused = false;                          // a budget of a rule, since the last tick
  bool is_normal = true;                             // the state before this tick
  Duration wall{0};                                  // since the Unix epoch, by the machine's clock
  InRotation rotation{};
  std::span<const ServerTick> servers = {};  // if several; the same ones in every tick
};

// Owned by the control thread, one per upstream. Windows are window_ms long and made of slices of
// one tick each (of longer slices where there would be more than 100 of them).
class SignalWindow {
 public:
  explicit SignalWindow(const config::Overload& settings);

  // Keeps what `former` learned at low load, since that takes quiet minutes to learn. To be called
  // before the first tick.
  void continue_from(const SignalWindow& former) { baseline_ = former.baseline_; }

  // Evaluates the counters' growth since the last call; the first call only reads them. `now` never
  // goes back.
  OverloadSignals tick(const TickInput& input, TimePoint now);

 private:
  struct Counts {
    std::uint32_t succeeded = 0, failed = 0, timed_out = 0, offered = 0, admitted = 0;
    Duration span{0};
  };
  struct BusyPoint {
    TimePoint at;
    double busy_slot_seconds;
    double slot_seconds;  // of the cap, which may change
    double shared_slot_seconds;
    double unreserved_seconds;  // of slots
    double queue_seconds;       // of the queue ratio
  };

  // Integrals over time, in seconds.
  struct Integrals {
    double slots = 0;
    double unreserved = 0;
    double queue = 0;
  };

  // Shares of slots and queue places in use.
  struct Use {
    double all = 0;     // of all
    double shared = 0;  // of the slots that are reserved for no class
    double queue = 0;   // of the fullest queue
  };

  void close_slice(const TickInput& input, double inflight, TimePoint now);
  Use slot_use(const TickInput& input, TimePoint now);
  std::uint64_t judge_counts(OverloadSignals& signals,
                             std::span<const SignalShard* const> shards) const;
  void judge_latency(OverloadSignals& signals, std::span<const SignalShard* const> shards) const;
  void judge_ratio(OverloadSignals& signals, std::span<const SignalShard* const> shards) const;

  bool is_shadow_;
  std::size_t slices_;
  Duration slice_;
  Duration tolerance_;  // since ticks come a little early or late
  SlidingHistogram latency_, relative_, wait_;
  QuietBaseline baseline_;
  std::vector<Counts> counts_;  // by slice, circular
  std::size_t oldest_count_ = 0;
  // The shards' sums at the beginning of the current slice.
  BucketCounts latency_seen_{}, relative_seen_{}, wait_seen_{};
  Counts seen_;
  SourceWindow sources_;
  std::optional<TimePoint> slice_began_;
  std::vector<BusyPoint> busy_;  // oldest first, over the last 2 s
  Integrals until_last_tick_;
  std::optional<TimePoint> last_tick_;
};

}  // namespace spillway::overload
