// The metric family of requests that were sent again.
#pragma once

#include <prometheus/metric_family.h>

#include "config/config.hpp"
#include "observe/worker_families.hpp"

namespace spillway::observe {

// Every upstream and result from the start, at 0.
prometheus::MetricFamily retries(const config::Config& config, Workers workers);

}  // namespace spillway::observe
