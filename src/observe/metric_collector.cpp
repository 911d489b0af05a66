#include "observe/metric_collector.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "observe/cache_families.hpp"
#include "observe/metric_family.hpp"
#include "observe/server_families.hpp"
#include "observe/upstream_families.hpp"
#include "observe/worker_families.hpp"

namespace spillway::observe {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricCollector::MetricCollector(const config::Config& config,
                                 std::vector<const WorkerMetrics*> workers,
                                 std::function<Snapshot()> snapshot, BuildInfo build)
    : config_(config),
      workers_(std::move(workers)),
      snapshot_(std::move(snapshot)),
      build_(std::move(build)) {}

std::vector<MetricFamily> MetricCollector::Collect() const {
  const Snapshot snapshot = snapshot_();
  std::vector<MetricFamily> result = worker_families(config_, workers_);
  std::vector<MetricFamily> upstreams = upstream_families(config_, snapshot);
  std::move(upstreams.begin(), upstreams.end(), std::back_inserter(result));
  std::vector<MetricFamily> servers = server_families(config_, snapshot);
  std::move(servers.begin(), servers.end(), std::back_inserter(result));
  std::vector<MetricFamily> caches = cache_families(config_, workers_, snapshot);
  std::move(caches.begin(), caches.end(), std::back_inserter(result));

  result.push_back(
      family("spillway_log_dropped_total", MetricType::Counter,
             "Log lines lost because stderr was slower than the log; workers never wait for it."));
  add_counter(result.back(), {}, static_cast<double>(snapshot.log_dropped));
  result.push_back(family("spillway_build_info", MetricType::Gauge,
                          "Always 1; the labels say what is running."));
  add_gauge(result.back(), {{"version", build_.version}, {"compiler", build_.compiler}}, 1);
  return result;
}

std::string to_text(const prometheus::Collectable& collectable) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, collectable.Collect());
  return std::move(out).str();
}

}  // namespace spillway::observe
