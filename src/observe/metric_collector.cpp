#include "observe/metric_collector.hpp"

#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>

#include "observe/cache_families.hpp"
#include "observe/client_families.hpp"
#include "observe/metric_family.hpp"
#include "observe/metric_history.hpp"
#include "observe/retry_families.hpp"
#include "observe/server_families.hpp"
#include "observe/tunnel_families.hpp"
#include "observe/upstream_families.hpp"
#include "observe/worker_families.hpp"

namespace spillway::observe {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> families_of(const config::Config& config,
                                      std::span<const WorkerMetrics* const> workers,
                                      const Snapshot& snapshot) {
  std::vector<MetricFamily> result = worker_families(config, workers);
  for (auto& more : {upstream_families(config, snapshot), server_families(config, snapshot),
                     cache_families(config, workers, snapshot)})
    result.insert(result.end(), more.begin(), more.end());
  result.push_back(retries(config, workers));
  return result;
}

MetricCollector::MetricCollector(const config::Config& config,
                                 std::vector<const WorkerMetrics*> workers,
                                 std::function<Snapshot()> snapshot, BuildInfo build,
                                 std::function<std::vector<MetricFamily>()> former)
    : config_(config),
      workers_(std::move(workers)),
      snapshot_(std::move(snapshot)),
      build_(std::move(build)),
      former_(std::move(former)) {}

std::vector<MetricFamily> MetricCollector::Collect() const {
  const Snapshot snapshot = snapshot_();
  std::vector<MetricFamily> result = families_of(config_, workers_, snapshot);
  if (former_) add_counts(result, former_());
  // Not among former_(): their counts outlive configurations.
  for (MetricFamily& tunnels : tunnel_families(workers_)) result.push_back(std::move(tunnels));
  for (MetricFamily& each : client_families(workers_, snapshot)) result.push_back(std::move(each));

  result.push_back(
      family("spillway_log_dropped_total", MetricType::Counter,
             "Log lines lost because stderr was slower than the log or took none; workers never "
             "wait for it."));
  add_counter(result.back(), {}, static_cast<double>(snapshot.log_dropped));
  result.push_back(family("spillway_config_reloads_total", MetricType::Counter,
                          "Reloads of the configuration; a failed one leaves it as it was."));
  add_counter(result.back(), {{"result", "success"}}, static_cast<double>(snapshot.reloads.done));
  add_counter(result.back(), {{"result", "failure"}}, static_cast<double>(snapshot.reloads.failed));
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
