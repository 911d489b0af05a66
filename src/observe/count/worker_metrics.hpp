// One worker's metrics.
//
// Only the owning worker writes; the admin thread reads at scrape time. All storage is allocated by
// the constructor, so that counting a request costs a few plain additions. The ids passed must
// belong to the configuration given at construction.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/count/cache_use.hpp"
#include "observe/count/counter.hpp"
#include "observe/count/duration_histogram.hpp"
#include "observe/count/retry_result.hpp"
#include "observe/count/tunnel_use.hpp"

namespace spillway::observe {

// How many routes have a label of their own; later routes share the label "other".
inline constexpr std::size_t kMaxRouteLabels = 1000;

// Metrics that outlive reloads.
struct WorkerGauges {
  Gauge client_connections;
  Gauge upstream_connections;
  Gauge abandoned_calls;  // abandoned requests that still hold their slots
  TunnelUse tunnels;      // includes counters: a tunnel outlives its configuration
  // Connections closed below limits.min_rate_bytes: while sending a body, while taking a response.
  Counter too_slow_bodies;
  Counter too_slow_takers;
  Gauge buffered_bytes;   // used of limits.buffer_bytes
  Gauge temp_file_bytes;  // used of limits.temp_file_bytes
  Counter temp_files;
  // Bodies without a file, or with one that ended early: the limit was reached; an I/O error.
  Counter temp_files_over_limit;
  Counter temp_files_failed;
  // Slots that wait for a client, and slots taken back from clients that were too slow.
  Gauge slots_awaiting_client;
  Counter slots_back_from_senders;
  Counter slots_back_from_takers;

  void set_event_loop_lag(Duration lag) {
    event_loop_lag_.store(lag.count(), std::memory_order_relaxed);
  }
  Duration event_loop_lag() const {
    return Duration{event_loop_lag_.load(std::memory_order_relaxed)};
  }

  // The share of time in which its thread ran, [0, 1].
  void set_event_loop_use(double use) { event_loop_use_.store(use, std::memory_order_relaxed); }
  double event_loop_use() const { return event_loop_use_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Duration::rep> event_loop_lag_{0};
  std::atomic<double> event_loop_use_{0};
};

class WorkerMetrics {
 public:
  explicit WorkerMetrics(const config::Config& config,
                         std::shared_ptr<WorkerGauges> gauges = std::make_shared<WorkerGauges>());

  // Never null.
  const std::shared_ptr<WorkerGauges> gauges;

  // A request's head is complete. finish() must follow.
  void accept() { accepted_.add(); }

  // A request ended. Call exactly once for each request.
  void finish(RouteId route, ClassId traffic_class, Outcome outcome) {
    routes_[route_cell(route_slot(index(route)), traffic_class, outcome)].add();
    upstreams_[upstream_cell(route_upstream_[index(route)], traffic_class, outcome)].add();
  }

  // A response head was sent to the client, from the upstream or the proxy itself. A status outside
  // 100-599 is counted as "other".
  void response(ClassId traffic_class, unsigned status) {
    responses_[index(traffic_class)]
              [status < kFirstStatus || status > kLastStatus ? kOtherStatus : status - kFirstStatus]
                  .add();
  }

  void denied(ClassId traffic_class, Reason reason) {
    denied_[index(traffic_class)][index(reason)].add();
  }

  // A proxy error; finish() also counts the request as Outcome::error.
  void error(ClassId traffic_class, Reason reason) {
    errors_[index(traffic_class)][index(reason)].add();
  }

  // A degraded answer.
  void degraded(ClassId traffic_class, config::DegradeMode mode, Reason reason) {
    degraded_[index(traffic_class)][index(mode)][index(reason)].add();
  }

  // Only for routes with a cache; calling it for any other is a programming error.
  void cache_lookup(RouteId route, CacheResult result) {
    caches_[cache_cell(route)].lookups[index(result)].add();
  }
  void cache_refresh(RouteId route, CacheRefresh result) {
    caches_[cache_cell(route)].refreshes[index(result)].add();
  }

  void retry(UpstreamId upstream, RetryResult result) {
    retries_[index(upstream)][index(result)].add();
  }

  // Forwarded by shadow mode; enforce mode would have ended it with `outcome`.
  void shadowed(ClassId traffic_class, Outcome outcome, Reason reason) {
    shadowed_[index(traffic_class)][index(outcome)][index(reason)].add();
  }

  // From the complete request head to the end of the response.
  void request_duration(ClassId traffic_class, Duration duration) {
    request_duration_[index(traffic_class)].observe(duration);
  }
  // From dispatch to the upstream's response head.
  void upstream_duration(UpstreamId upstream, Duration duration) {
    upstream_duration_[index(upstream)].observe(duration);
  }
  // From offering the request to the gate until its slot; 0 for a request that did not wait.
  void queue_wait(ClassId traffic_class, Duration wait) {
    queue_wait_[index(traffic_class)].observe(wait);
  }
  // The absolute difference between the predicted and the actual wait.
  void wait_prediction_error(ClassId traffic_class, Duration error) {
    wait_prediction_error_[index(traffic_class)].observe(error);
  }

  // Read by scrapes. `slot` stands for a route's label: its index, or kMaxRouteLabels for "other".
  std::uint64_t accepted() const { return accepted_.value(); }
  std::uint64_t finished(std::size_t slot, ClassId traffic_class, Outcome outcome) const {
    return routes_[route_cell(slot, traffic_class, outcome)].value();
  }
  std::uint64_t finished_at(UpstreamId upstream, ClassId traffic_class, Outcome outcome) const {
    return upstreams_[upstream_cell(upstream, traffic_class, outcome)].value();
  }
  // Status codes are 100-599; kOther counts all others.
  static constexpr unsigned kFirstStatus = 100;
  static constexpr unsigned kLastStatus = 599;
  static constexpr std::size_t kOtherStatus = kLastStatus - kFirstStatus + 1;
  using StatusCounters = std::array<Counter, kOtherStatus + 1>;
  const StatusCounters& responses(ClassId traffic_class) const {
    return responses_[index(traffic_class)];
  }
  std::uint64_t denials(ClassId traffic_class, Reason reason) const {
    return denied_[index(traffic_class)][index(reason)].value();
  }
  std::uint64_t errors(ClassId traffic_class, Reason reason) const {
    return errors_[index(traffic_class)][index(reason)].value();
  }
  std::uint64_t degradations(ClassId traffic_class, config::DegradeMode mode, Reason reason) const {
    return degraded_[index(traffic_class)][index(mode)][index(reason)].value();
  }
  // Only for routes with a cache.
  std::uint64_t cache_lookups(RouteId route, CacheResult result) const {
    return caches_[cache_cell(route)].lookups[index(result)].value();
  }
  std::uint64_t cache_refreshes(RouteId route, CacheRefresh result) const {
    return caches_[cache_cell(route)].refreshes[index(result)].value();
  }
  std::uint64_t retries(UpstreamId upstream, RetryResult result) const {
    return retries_[index(upstream)][index(result)].value();
  }
  std::uint64_t in_shadow(ClassId traffic_class, Outcome outcome, Reason reason) const {
    return shadowed_[index(traffic_class)][index(outcome)][index(reason)].value();
  }
  const DurationHistogram& request_durations(ClassId c) const {
    return request_duration_[index(c)];
  }
  const DurationHistogram& upstream_durations(UpstreamId u) const {
    return upstream_duration_[index(u)];
  }
  const DurationHistogram& queue_waits(ClassId c) const { return queue_wait_[index(c)]; }
  const DurationHistogram& wait_prediction_errors(ClassId c) const {
    return wait_prediction_error_[index(c)];
  }

 private:
  static std::size_t route_slot(std::size_t route) {
    return route < kMaxRouteLabels ? route : kMaxRouteLabels;
  }
  std::size_t route_cell(std::size_t slot, ClassId c, Outcome outcome) const {
    return (slot * classes_ + index(c)) * kOutcomeCount + index(outcome);
  }
  std::size_t upstream_cell(UpstreamId u, ClassId c, Outcome outcome) const {
    return (index(u) * classes_ + index(c)) * kOutcomeCount + index(outcome);
  }

  std::size_t cache_cell(RouteId route) const {
    assert(cache_cells_[index(route)] != kNoCache);
    return cache_cells_[index(route)];
  }

  struct CacheCounters {
    std::array<Counter, kCacheResultCount> lookups;
    std::array<Counter, kCacheRefreshCount> refreshes;
  };
  static constexpr std::size_t kNoCache = SIZE_MAX;

  std::size_t classes_;
  std::vector<UpstreamId> route_upstream_;
  std::vector<Counter> routes_;     // by slot, class, outcome
  std::vector<Counter> upstreams_;  // by upstream, class, outcome
  std::vector<StatusCounters> responses_;
  using ReasonCounters = std::array<Counter, kReasonCount>;
  std::vector<ReasonCounters> denied_;
  std::vector<ReasonCounters> errors_;
  std::vector<std::array<ReasonCounters, kOutcomeCount>> shadowed_;
  std::vector<std::array<ReasonCounters, config::kDegradeModeCount>> degraded_;
  std::vector<std::size_t> cache_cells_;  // by route; kNoCache: the route has none
  std::vector<CacheCounters> caches_;
  std::vector<std::array<Counter, kRetryResultCount>> retries_;  // by upstream
  std::vector<DurationHistogram> request_duration_;
  std::vector<DurationHistogram> upstream_duration_;
  std::vector<DurationHistogram> queue_wait_;
  std::vector<DurationHistogram> wait_prediction_error_;
  Counter accepted_;
};

}  // namespace spillway::observe
