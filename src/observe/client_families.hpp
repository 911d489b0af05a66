// Metric families of clients that were kept out or cut off.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "observe/snapshot.hpp"
#include "observe/worker_families.hpp"

namespace spillway::observe {

std::vector<prometheus::MetricFamily> client_families(Workers workers, const Snapshot& snapshot);

}  // namespace spillway::observe
