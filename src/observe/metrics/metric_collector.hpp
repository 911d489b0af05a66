// The Prometheus metrics: merges the workers' counts and the gates' snapshot at scrape time.
//
// The configuration and the workers' metrics must outlive the collector. Collect() may be called by
// only one thread at a time; it never delays a worker.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "observe/count/worker_metrics.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

// All families that belong to one configuration.
std::vector<prometheus::MetricFamily> families_of(const config::Config& config,
                                                  std::span<const WorkerMetrics* const> workers,
                                                  const Snapshot& snapshot);

class MetricCollector : public prometheus::Collectable {
 public:
  // `former`: the counts of former configurations (see metric_history.hpp); may be empty.
  MetricCollector(const config::Config& config, std::vector<const WorkerMetrics*> workers,
                  std::function<Snapshot()> snapshot, BuildInfo build,
                  std::function<std::vector<prometheus::MetricFamily>()> former = {});

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const config::Config& config_;
  std::vector<const WorkerMetrics*> workers_;
  std::function<Snapshot()> snapshot_;
  BuildInfo build_;
  std::function<std::vector<prometheus::MetricFamily>()> former_;
};

// The text exposition format, version 0.0.4.
std::string to_text(const prometheus::Collectable& collectable);

}  // namespace spillway::observe
