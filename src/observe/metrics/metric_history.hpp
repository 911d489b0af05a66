// The counts of former configurations, kept so that a reload does not reset counters.
//
// Each configuration has its own counters. The counts of former ones are added to the current ones,
// sample by sample, where the labels are equal. A route, class or upstream that is no longer
// configured is dropped, which bounds the memory to one configuration.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "config/config.hpp"

namespace spillway::observe {

// Adds the counters and histograms of `from` to `to`; gauges stay unchanged.
void add_counts(std::vector<prometheus::MetricFamily>& to,
                const std::vector<prometheus::MetricFamily>& from);

// Removes the samples of routes, classes, upstreams and servers that `config` does not have.
void forget_unknown(std::vector<prometheus::MetricFamily>& families, const config::Config& config);

}  // namespace spillway::observe
