// The metric families of the servers of each upstream.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "config/config.hpp"
#include "observe/snapshot.hpp"

namespace spillway::observe {

// By upstream and server, as configured: up, requests in flight, failures by kind and in a row,
// ejections, circuits and health checks by their result where there are any; by upstream, whether
// it is live and connections not made for want of our own means.
std::vector<prometheus::MetricFamily> server_families(const config::Config& config,
                                                      const Snapshot& snapshot);

}  // namespace spillway::observe
