#include "proxy/generation/generations.hpp"

#include <utility>

#include "observe/metrics/metric_collector.hpp"
#include "observe/metrics/metric_history.hpp"
#include "proxy/generation/snapshot.hpp"

namespace spillway::proxy {

namespace {

std::vector<prometheus::MetricFamily> counts_of(Generation& generation) {
  observe::Snapshot snapshot;
  read_upstreams(generation, false, snapshot);
  // A cache that carried over to another generation is counted in that one.
  generation.route_responses.read_snapshot(snapshot.caches, true);
  std::vector<const observe::WorkerMetrics*> metrics;
  for (const auto& each : generation.metrics) metrics.push_back(each.get());
  return observe::families_of(generation.config, metrics, snapshot);
}

}  // namespace

Generations::Generations(std::shared_ptr<Generation> first)
    : current_(std::move(first)), since_(Clock::now()) {}

std::shared_ptr<Generation> Generations::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

TimePoint Generations::since() const {
  const std::lock_guard lock(mutex_);
  return since_;
}

void Generations::replace(std::shared_ptr<Generation> next) {
  const std::lock_guard lock(mutex_);
  since_ = Clock::now();
  former_.push_back({std::exchange(current_, std::move(next)), since_});
  observe::forget_unknown(counted_, current_->config);
}

void Generations::collect_locked() {
  std::erase_if(former_, [this](const Former& each) {
    if (each.generation.use_count() > 1) return false;
    std::vector<prometheus::MetricFamily> counts = counts_of(*each.generation);
    observe::forget_unknown(counts, current_->config);
    observe::add_counts(counted_, counts);
    return true;
  });
}

std::size_t Generations::collect() {
  const std::lock_guard lock(mutex_);
  collect_locked();
  return former_.size();
}

const Generation* Generations::oldest(TimePoint replaced_before) const {
  const std::lock_guard lock(mutex_);
  if (former_.empty() || former_.front().replaced_at > replaced_before) return nullptr;
  return former_.front().generation.get();
}

std::vector<prometheus::MetricFamily> Generations::counts_except(const Generation& generation) {
  const std::lock_guard lock(mutex_);
  collect_locked();
  std::vector<prometheus::MetricFamily> sum = counted_;
  std::vector<std::shared_ptr<Generation>> others{current_};
  for (const Former& each : former_) others.push_back(each.generation);
  for (const auto& each : others) {
    if (each.get() == &generation) continue;
    std::vector<prometheus::MetricFamily> counts = counts_of(*each);
    observe::forget_unknown(counts, current_->config);
    observe::add_counts(sum, counts);
  }
  return sum;
}

}  // namespace spillway::proxy
