// The metric families that come from the gates' and the control thread's snapshot.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "config/config.hpp"
#include "observe/snapshot.hpp"

namespace spillway::observe {

// Queue counters by class, summed over the upstreams; queues, slots, overload state, its
// transitions and the signals by upstream.
std::vector<prometheus::MetricFamily> upstream_families(const config::Config& config,
                                                        const Snapshot& snapshot);

}  // namespace spillway::observe
