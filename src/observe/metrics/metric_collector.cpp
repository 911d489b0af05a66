#include "observe/metrics/metric_collector.hpp"

#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>

#include "observe/metrics/families.hpp"
#include "observe/metrics/metric_family.hpp"
#include "observe/metrics/metric_history.hpp"

namespace spillway::observe {

using prometheus::MetricFamily;

Families families_of(const config::Config& config, Workers workers, const Snapshot& snapshot) {
  Families result = request_families(config, workers);
  for (auto& more :
       {upstream_families(config, snapshot), cache_families(config, workers, snapshot)})
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
  // Not part of former_(): these counts outlive configurations.
  for (MetricFamily& each : connection_families(workers_, snapshot)) {
    result.push_back(std::move(each));
  }
  for (MetricFamily& each : job_families(config_, snapshot)) result.push_back(std::move(each));
  for (MetricFamily& each : waiting_families(snapshot)) result.push_back(std::move(each));
  add_sample(result.emplace_back(counter(
                 "spillway_log_dropped_total",
                 "Log lines lost because stderr was slower than the log or took none; workers "
                 "wait for it only in a drain, each for a second in all.")),
             {}, snapshot.log_dropped);
  MetricFamily& phases = result.emplace_back(gauge(
      "spillway_phase",
      "1 for the phase that the process is in: serving; drain_delay, not ready but all else goes "
      "on (limits.drain_delay_ms); draining, no new connection is accepted."));
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    add_sample(phases, {label("phase", name(phase))}, phase == snapshot.phase ? 1 : 0);
  }
  MetricFamily& reloads = result.emplace_back(
      counter("spillway_config_reloads_total",
              "Reloads of the configuration; a failed one leaves it as it was."));
  add_sample(reloads, {{"result", "success"}}, snapshot.reloads.done);
  add_sample(reloads, {{"result", "failure"}}, snapshot.reloads.failed);
  add_sample(result.emplace_back(
                 gauge("spillway_build_info", "Always 1; the labels say what is running.")),
             {label("version", build_.version), label("compiler", build_.compiler)}, 1);
  return result;
}

std::string to_text(const prometheus::Collectable& collectable) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, collectable.Collect());
  return std::move(out).str();
}

}  // namespace spillway::observe
