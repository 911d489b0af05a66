#include "simulate/run/recorder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "simulate/recording/quantile.hpp"
#include "simulate/run/fairness.hpp"
#include "simulate/scenario/sizing.hpp"

namespace spillway::simulate {
namespace {

constexpr Milliseconds kSoon{5};
constexpr auto kNoTenant = static_cast<std::size_t>(-1);

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Recorder::Recorder(const Scenario& scenario, bool shedding, TimePoint begin)
    : begin_(begin),
      measured_from_(begin + std::chrono::seconds(scenario.warm_up_seconds)),
      end_(begin + std::chrono::seconds(scenario.seconds)),
      latencies_(scenario.config.classes.size()) {
  recording_.scenario = scenario.name;
  recording_.sentence = scenario.sentence;
  recording_.size = size_of(scenario);
  recording_.seed = scenario.seed;
  recording_.shedding = shedding;
  recording_.warm_up = scenario.warm_up_seconds;
  recording_.seconds.resize(scenario.seconds);
  for (Second& second : recording_.seconds) second.classes.resize(scenario.config.classes.size());
  for (const config::TrafficClass& one : scenario.config.classes) {
    recording_.classes.emplace_back().name = one.name;
  }
  add_tenants(scenario);
}

// Equal names mean the same tenant.
void Recorder::add_tenants(const Scenario& scenario) {
  std::map<std::string, std::size_t> known;
  for (const Clients& clients : scenario.clients) {
    auto& numbers = tenants_of_clients_.emplace_back();
    if (clients.tenant.empty()) continue;
    for (std::uint32_t i = 0; i < clients.tenants; ++i) {
      const std::string name = tenant_name(clients, i);
      const auto [at, is_new] = known.emplace(name, recording_.tenants.size());
      if (is_new) {
        recording_.tenants.emplace_back().name = name;
        work_of_tenants_.push_back({.weight = tier_of(scenario, clients, i).weight});
      }
      numbers.push_back(at->second);
    }
  }
}

void Recorder::offered(const Request& request) {
  count(request, request.came, &ClassCounts::offered);
  const std::size_t tenant = tenant_of(request);
  if (tenant == kNoTenant || !in_summary(request)) return;
  ++recording_.tenants[tenant].offered;
  work_of_tenants_[tenant].demand += request.work;
}

void Recorder::served(const Request& request, TimePoint now) {
  count(request, now, &ClassCounts::served);
  if (request.degraded) count(request, now, &ClassCounts::degraded);
  if (request.answered_by == AnsweredBy::cache) count(request, now, &ClassCounts::cached);
  const double latency = to_seconds(now - request.came);
  latencies_of_second_.push_back(latency);
  if (!in_summary(request)) return;
  latencies_[index(request.traffic_class)].push_back(latency);
  double& max_wait = recording_.classes[index(request.traffic_class)].max_wait;
  max_wait = std::max(max_wait, to_seconds(request.begun - request.came));
  const std::size_t tenant = tenant_of(request);
  if (tenant == kNoTenant) return;
  ++recording_.tenants[tenant].served;
  work_of_tenants_[tenant].got += request.work;
}

void Recorder::expired(const Request& request, TimePoint now) {
  count(request, request.came, &ClassCounts::expired);
  if (now - request.came > kSoon) count(request, request.came, &ClassCounts::told_late);
}

void Recorder::left(const Request& request) {
  count(request, request.came, &ClassCounts::expired);
  count(request, request.came, &ClassCounts::left);
}

void Recorder::would_deny(ClassId traffic_class, TimePoint now) {
  if (now >= end_) return;
  const auto second = static_cast<std::size_t>((now - begin_) / std::chrono::seconds(1));
  ++recording_.seconds[second].classes[index(traffic_class)].would_deny;
  if (now >= measured_from_) ++recording_.classes[index(traffic_class)].counts.would_deny;
}

void Recorder::depth(std::size_t queued, TimePoint now) {
  if (now < measured_from_ || now > end_) return;
  recording_.max_queued = std::max(recording_.max_queued, static_cast<std::uint32_t>(queued));
}

void Recorder::changed(TimePoint now, State to, Reason reason) {
  if (now <= end_) recording_.changes.push_back({to_seconds(now - begin_), to, reason});
}

void Recorder::end_second(Second end) {
  Second& second = recording_.seconds[seconds_ended_++];
  end.classes = std::move(second.classes);
  end.p95 = quantile(latencies_of_second_, 0.95);
  latencies_of_second_.clear();
  second = std::move(end);
}

Recording Recorder::finish(const WorkDone& work) {
  recording_.goodput = ratio(work.useful, work.available);
  recording_.wasted = ratio(work.wasted, work.useful + work.wasted);
  std::vector<double> all;
  for (std::size_t c = 0; c < latencies_.size(); ++c) {
    ClassSummary& summary = recording_.classes[c];
    summary.success = summary.counts.offered == 0 ? 1
                                                  : static_cast<double>(summary.counts.served) /
                                                        static_cast<double>(summary.counts.offered);
    summary.p50 = quantile(latencies_[c], 0.5);
    summary.p95 = quantile(latencies_[c], 0.95);
    summary.p99 = quantile(latencies_[c], 0.99);
    all.insert(all.end(), latencies_[c].begin(), latencies_[c].end());
  }
  recording_.p95 = quantile(all, 0.95);
  std::vector<double> demand, got, weight;
  for (const TenantWork& tenant : work_of_tenants_) {
    demand.push_back(tenant.demand);
    got.push_back(tenant.got);
    weight.push_back(tenant.weight);
  }
  recording_.jain = max_min_fairness(demand, got, weight);
  return std::move(recording_);
}

void Recorder::count(const Request& request, TimePoint when, std::uint64_t ClassCounts::*what) {
  const std::size_t c = index(request.traffic_class);
  if (when < end_) {
    const auto second = std::chrono::duration_cast<std::chrono::seconds>(when - begin_).count();
    ++(recording_.seconds[static_cast<std::size_t>(second)].classes[c].*what);
  }
  if (in_summary(request)) ++(recording_.classes[c].counts.*what);
}

bool Recorder::in_summary(const Request& request) const {
  return request.came >= measured_from_ && request.came < end_;
}

std::size_t Recorder::tenant_of(const Request& request) const {
  const auto& numbers = tenants_of_clients_[request.demand.clients];
  return numbers.empty() ? kNoTenant : numbers[request.demand.tenant];
}

}  // namespace spillway::simulate
