// Counts of everything that a worker can count, under sample_config().
#pragma once

#include <cstddef>

#include "observe/count/worker_metrics.hpp"
#include "sample.hpp"

namespace spillway::observe {

inline void touch_everything(WorkerMetrics& metrics) {
  for (std::size_t o = 0; o < kOutcomeCount; ++o) {
    metrics.finish(RouteId{0}, kP0, static_cast<Outcome>(o));
  }
  for (const unsigned status : {200u, 503u, 999u}) metrics.response(kP1, status);
  for (std::size_t r = 1; r < kReasonCount; ++r) {
    metrics.denied(kP1, static_cast<Reason>(r));
    metrics.error(kP1, static_cast<Reason>(r));
    metrics.shadowed(kP1, Outcome::denied, static_cast<Reason>(r));
    for (std::size_t m = 0; m < config::kDegradeModeCount; ++m) {
      metrics.degraded(kP0, static_cast<config::DegradeMode>(m), static_cast<Reason>(r));
    }
  }
  for (std::size_t i = 0; i < kCacheResultCount; ++i)
    metrics.cache_lookup(kExport, static_cast<CacheResult>(i));
  for (std::size_t i = 0; i < kCacheRefreshCount; ++i)
    metrics.cache_refresh(kExport, static_cast<CacheRefresh>(i));
  for (std::size_t i = 0; i < kRetryResultCount; ++i)
    metrics.retry(kReports, static_cast<RetryResult>(i));
  metrics.request_duration(kP0, Milliseconds{12});
  metrics.upstream_duration(kApp, Milliseconds{8});
  metrics.queue_wait(kP1, Milliseconds{80});
  metrics.wait_prediction_error(kP1, Milliseconds{3});
  metrics.gauges->client_connections.add(5);
  metrics.gauges->upstream_connections.add(2);
  metrics.gauges->set_event_loop_lag(Milliseconds{1});
  metrics.gauges->set_event_loop_use(0.5);
  TunnelCounts& streams = metrics.gauges->tunnels[index(TunnelKind::event_stream)];
  streams.open.add(3);
  streams.asked[index(TunnelResult::refused)].add();
  streams.ended[index(TunnelEnd::idle)].add(2);
}

}  // namespace spillway::observe
