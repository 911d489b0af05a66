// Building blocks of a metrics page: families, samples, and sums over the workers.
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/count/duration_histogram.hpp"
#include "observe/count/worker_metrics.hpp"

namespace spillway::observe {

using Families = std::vector<prometheus::MetricFamily>;
using Labels = std::vector<prometheus::ClientMetric::Label>;
using Workers = std::span<const WorkerMetrics* const>;

inline prometheus::MetricFamily counter(std::string name, std::string help) {
  return {std::move(name), std::move(help), prometheus::MetricType::Counter, {}};
}
inline prometheus::MetricFamily gauge(std::string name, std::string help) {
  return {std::move(name), std::move(help), prometheus::MetricType::Gauge, {}};
}

inline prometheus::ClientMetric::Label label(std::string name, std::string_view value) {
  return {std::move(name), std::string(value)};
}

inline Labels with(Labels labels, std::string name, std::string_view value) {
  labels.push_back(label(std::move(name), value));
  return labels;
}

// One sample of a counter or a gauge.
template <class Number>
void add_sample(prometheus::MetricFamily& to, Labels labels, Number value) {
  prometheus::ClientMetric& metric = to.metric.emplace_back();
  metric.label = std::move(labels);
  if (to.type == prometheus::MetricType::Counter) {
    metric.counter.value = static_cast<double>(value);
  } else {
    metric.gauge.value = static_cast<double>(value);
  }
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
  // The serializer adds the unbounded (+Inf) bucket from this count.
  metric.histogram.sample_count = count + snapshot.counts.back();
  metric.histogram.sample_sum = static_cast<double>(snapshot.sum) / 1e9;
}

// The sum of read(worker) over all workers.
template <class Read>
auto sum(Workers workers, Read read) {
  decltype(read(*workers.front())) total{};
  for (const WorkerMetrics* worker : workers) total += read(*worker);
  return total;
}

// The sum of one counter or gauge over the workers.
template <class Value>
prometheus::MetricFamily of_all(Workers workers, prometheus::MetricFamily family,
                                Value WorkerGauges::*value, Labels labels = {}) {
  add_sample(family, std::move(labels), sum(workers, [value](const WorkerMetrics& worker) {
               return ((*worker.gauges).*value).value();
             }));
  return family;
}

}  // namespace spillway::observe
