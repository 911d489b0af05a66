// The metric families of the routes' response caches.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "config/config.hpp"
#include "observe/snapshot.hpp"
#include "observe/worker_families.hpp"

namespace spillway::observe {

// By route, for those that have a cache; without samples when none has. Every series is there
// from the start.
std::vector<prometheus::MetricFamily> cache_families(const config::Config& config, Workers workers,
                                                     const Snapshot& snapshot);

}  // namespace spillway::observe
