// How many jobs of a route may be pulled, and this proxy's part of the route's caps.
#include <algorithm>
#include <cmath>
#include <utility>

#include "proxy/jobs/job_dispatcher.hpp"

namespace spillway::proxy {

namespace {

constexpr double kRateUnits = 1e6;  // jobs::CapKind::rate

}  // namespace

// How many jobs of the route may be pulled now.
std::size_t JobDispatcher::room(const std::string& name, TimePoint now) {
  const auto configured = routes_.routes.find(name);
  if (configured == routes_.routes.end()) return 0;  // its jobs stay in the store and wait
  const JobRoute& its = configured->second;
  jobs::RouteCapacity::Upstream there =
      at_upstream_[upstream_of(name)].seen_from(jobs::rank_of(its.defer), routes_.upstream(its));
  there.left = most_more();
  jobs::RouteCapacity::Caps caps{.concurrency = share_of(name)};
  if (its.defer.rate) {
    const jobs::BeginRate& rate = handed_.begin_rate(name);
    caps.soon = rate.soon(now);
    caps.running = rate.running();
  }
  return known_[name].room(its.defer, there, now, caps);
}

// When to call room() again. A route that is gone has no room until it is configured again, and
// configure() wakes the thread. So does a renewal, if the proxy has no share of a cap.
std::optional<TimePoint> JobDispatcher::room_from(const std::string& name, TimePoint now) const {
  const auto configured = routes_.routes.find(name);
  if (configured == routes_.routes.end() || share_of(name) == 0) return std::nullopt;
  const auto known = known_.find(name);
  if (known == known_.end()) return now + jobs::RouteCapacity::kLookAgain;
  const TimePoint from = known->second.room_from(now);
  if (!configured->second.defer.rate) return from;
  const jobs::BeginRate& its = handed_.begin_rate(name);
  const std::size_t next = known->second.ahead(its.running()) + 1;
  const TimePoint begins = its.soon_from(next, now);
  if (begins == kNever) return std::nullopt;
  return std::max(from, begins);
}

// By name and generation, as running jobs are counted. Empty: the route is no longer configured.
std::string JobDispatcher::upstream_of(const std::string& route) const {
  const auto configured = routes_.routes.find(route);
  if (configured == routes_.routes.end()) return {};
  return routes_.upstream(configured->second).config.name + '/' +
         std::to_string(routes_.generation->number);
}

std::uint8_t JobDispatcher::rank_of(const std::string& route) const {
  const auto configured = routes_.routes.find(route);
  if (configured == routes_.routes.end()) return jobs::kLowestRank;
  return jobs::rank_of(configured->second.defer);
}

// This proxy's part of the route's `concurrency`; nullopt: all of it.
std::optional<std::size_t> JobDispatcher::share_of(const std::string& route) const {
  const auto configured = routes_.routes.find(route);
  if (!lease_.is_shared() || configured == routes_.routes.end()) return std::nullopt;
  const auto& most = configured->second.defer.concurrency;
  if (!most) return std::nullopt;
  const std::int64_t share = self_.shares.share({route, jobs::CapKind::concurrency});
  return std::min(static_cast<std::size_t>(share), static_cast<std::size_t>(*most));
}

// The caps that other proxies on the store have to know. A route that is gone leaves its jobs.
jobs::CapShares::Caps JobDispatcher::caps() const {
  jobs::CapShares::Caps caps;
  if (!lease_.is_shared()) return caps;
  for (const auto& [name, its] : known_)
    if (!routes_.routes.contains(name) && its.in_use() > 0)
      caps[{name, jobs::CapKind::concurrency}] = {.in_use =
                                                      static_cast<std::int64_t>(its.in_use())};
  for (const auto& [name, route] : routes_.routes) {
    const auto known = known_.find(name);
    const std::size_t in_use = known == known_.end() ? 0 : known->second.in_use();
    if (route.defer.concurrency)
      caps[{name, jobs::CapKind::concurrency}] = {
          .most = static_cast<std::int64_t>(*route.defer.concurrency),
          .in_use = static_cast<std::int64_t>(in_use)};
    if (route.defer.rate)
      caps[{name, jobs::CapKind::rate}] = {.most = std::llround(*route.defer.rate * kRateUnits)};
  }
  return caps;
}

bool JobDispatcher::tells_shares() const { return epoch_ != 0 && !caps().empty(); }

jobs::CapParts JobDispatcher::tell_parts() {
  jobs::CapParts parts = self_.shares.plan(caps(), is_pulling_);
  set_rates();
  return parts;
}

std::map<jobs::CapId, double> JobDispatcher::cap_shares() {
  std::map<jobs::CapId, double> shares;
  for (const auto& [name, route] : routes_.routes) {
    const config::Defer& defer = route.defer;
    if (defer.concurrency)
      shares[{name, jobs::CapKind::concurrency}] =
          static_cast<double>(share_of(name).value_or(*defer.concurrency));
    if (defer.rate) shares[{name, jobs::CapKind::rate}] = handed_.begin_rate(name).rate();
  }
  return shares;
}

// Sets the rates at which workers begin jobs, also those of an earlier configuration.
void JobDispatcher::set_rates() {
  for (const auto& [name, route] : routes_.routes) {
    double rate = route.defer.rate.value_or(jobs::BeginRate::kNoCap);
    if (route.defer.rate && lease_.is_shared()) {
      const std::int64_t share = self_.shares.share({name, jobs::CapKind::rate});
      rate = std::min(rate, static_cast<double>(share) / kRateUnits);
    }
    handed_.begin_rate(name).allow(rate);
  }
}

}  // namespace spillway::proxy
