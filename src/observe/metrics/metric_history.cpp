#include "observe/metrics/metric_history.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace spillway::observe {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using LabelViews = std::vector<std::pair<std::string_view, std::string_view>>;

// The labels of a sample are in the order in which the family's code adds them.
LabelViews labels_of(const ClientMetric& metric) {
  LabelViews views;
  for (const auto& label : metric.label) views.emplace_back(label.name, label.value);
  return views;
}

void add(ClientMetric::Histogram& to, const ClientMetric::Histogram& from) {
  to.sample_count += from.sample_count;
  to.sample_sum += from.sample_sum;
  const std::size_t buckets = std::min(to.bucket.size(), from.bucket.size());
  for (std::size_t i = 0; i < buckets; ++i)
    to.bucket[i].cumulative_count += from.bucket[i].cumulative_count;
}

void add(MetricFamily& to, const MetricFamily& from) {
  std::map<LabelViews, std::size_t> known;
  to.metric.reserve(to.metric.size() + from.metric.size());  // the keys are views of its labels
  for (std::size_t i = 0; i < to.metric.size(); ++i) known.emplace(labels_of(to.metric[i]), i);
  for (const ClientMetric& metric : from.metric) {
    const auto at = known.find(labels_of(metric));
    if (at == known.end()) {
      to.metric.push_back(metric);
    } else {
      ClientMetric& sum = to.metric[at->second];
      sum.counter.value += metric.counter.value;
      add(sum.histogram, metric.histogram);
    }
  }
}

}  // namespace

void add_counts(std::vector<MetricFamily>& to, const std::vector<MetricFamily>& from) {
  for (const MetricFamily& family : from) {
    if (family.type != MetricType::Counter && family.type != MetricType::Histogram) continue;
    const auto same = std::ranges::find(to, family.name, &MetricFamily::name);
    if (same == to.end()) {
      to.push_back(family);
    } else {
      add(*same, family);
    }
  }
}

void forget_unknown(std::vector<MetricFamily>& families, const config::Config& config) {
  std::map<std::string_view, std::set<std::string_view>> known;
  for (const auto& route : config.routes) known["route"].insert(route.name);
  for (const auto& each : config.classes) known["class"].insert(each.name);
  for (const auto& upstream : config.upstreams) {
    known["upstream"].insert(upstream.name);
    for (const auto& server : upstream.servers) known["server"].insert(server);
  }
  known["route"].insert("other");
  const auto is_unknown = [&known](const auto& label) {
    const auto names = known.find(label.name);
    return names != known.end() && !names->second.contains(label.value);
  };
  for (MetricFamily& family : families) {
    std::erase_if(family.metric, [&](const ClientMetric& metric) {
      return std::ranges::any_of(metric.label, is_unknown);
    });
  }
}

}  // namespace spillway::observe
