// The JSON of /state: signals with their thresholds, queues, counters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "config/config.hpp"
#include "observe/count/worker_metrics.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

// `snapshot.upstreams` and their classes are in the configuration's order. Times are in
// milliseconds and end in _ms; a signal without evidence is null.
nlohmann::ordered_json state_report(const config::Config& config,
                                    std::span<const WorkerMetrics* const> workers,
                                    const Snapshot& snapshot, const BuildInfo& build);

}  // namespace spillway::observe
