// Building blocks of a metrics page: one family, and one sample at a time.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "observe/duration_histogram.hpp"

namespace spillway::observe {

using Labels = std::vector<prometheus::ClientMetric::Label>;

inline prometheus::MetricFamily family(std::string name, prometheus::MetricType type,
                                       std::string help) {
  return {std::move(name), std::move(help), type, {}};
}

inline void add_counter(prometheus::MetricFamily& to, Labels labels, double value) {
  prometheus::ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  metric.counter.value = value;
}

inline void add_gauge(prometheus::MetricFamily& to, Labels labels, double value) {
  prometheus::ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = value;
}

inline void add_histogram(prometheus::MetricFamily& to, Labels labels,
                          const HistogramSnapshot& snapshot) {
  prometheus::ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < DurationHistogram::kBoundsNanoseconds.size(); ++i) {
    count += snapshot.counts[i];
    metric.histogram.bucket.push_back(
        {count, static_cast<double>(DurationHistogram::kBoundsNanoseconds[i]) / 1e9});
  }
  // The serializer adds the bucket without bound from this count.
  metric.histogram.sample_count = count + snapshot.counts.back();
  metric.histogram.sample_sum = static_cast<double>(snapshot.sum) / 1e9;
}

}  // namespace spillway::observe
