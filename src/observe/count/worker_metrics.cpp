#include "observe/count/worker_metrics.hpp"

#include <algorithm>
#include <utility>

namespace spillway::observe {

WorkerMetrics::WorkerMetrics(const config::Config& config, std::shared_ptr<WorkerGauges> shared)
    : gauges(std::move(shared)),
      classes_(config.classes.size()),
      routes_(std::min(config.routes.size(), kMaxRouteLabels + 1) * classes_ * kOutcomeCount),
      upstreams_(config.upstreams.size() * classes_ * kOutcomeCount),
      responses_(classes_),
      denied_(classes_),
      errors_(classes_),
      shadowed_(classes_),
      degraded_(classes_),
      cache_cells_(config.routes.size(), kNoCache),
      retries_(config.upstreams.size()),
      request_duration_(classes_),
      upstream_duration_(config.upstreams.size()),
      queue_wait_(classes_),
      wait_prediction_error_(classes_) {
  route_upstream_.reserve(config.routes.size());
  for (const config::Route& route : config.routes) route_upstream_.push_back(route.upstream);

  std::size_t caches = 0;
  for (std::size_t r = 0; r < config.routes.size(); ++r) {
    if (config.routes[r].cache) cache_cells_[r] = caches++;
  }
  caches_ = std::vector<CacheCounters>(caches);
}

}  // namespace spillway::observe
