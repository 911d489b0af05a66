// The metric families that come from the workers' counts, summed over the workers.
#pragma once

#include <prometheus/metric_family.h>

#include <span>
#include <vector>

#include "config/config.hpp"
#include "observe/worker_metrics.hpp"

namespace spillway::observe {

using Workers = std::span<const WorkerMetrics* const>;

// Requests, responses, denials and errors; durations and waits; connections and event-loop lag.
std::vector<prometheus::MetricFamily> worker_families(const config::Config& config,
                                                      Workers workers);

}  // namespace spillway::observe
