// The metric families of upgraded connections and event streams.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "observe/worker_families.hpp"

namespace spillway::observe {

// By kind, summed over the workers. Every series is there from the start.
std::vector<prometheus::MetricFamily> tunnel_families(Workers workers);

}  // namespace spillway::observe
