// What former configurations counted, so that a reload does not set counters back.
//
// Every configuration has counters of its own. Those of a former one are added to the present
// one's, sample by sample, where all labels are the same. A route, class or upstream that is no
// longer configured is forgotten: what is kept is bounded by what one configuration can show.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "config/config.hpp"

namespace spillway::observe {

// Adds the counters and histograms of `from` to `to`; gauges are what they are now.
void add_counts(std::vector<prometheus::MetricFamily>& to,
                const std::vector<prometheus::MetricFamily>& from);

// Takes out the samples of routes, classes and upstreams that are not of this configuration.
void forget_unknown(std::vector<prometheus::MetricFamily>& families, const config::Config& config);

}  // namespace spillway::observe
