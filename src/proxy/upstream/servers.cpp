#include "proxy/upstream/servers.hpp"

#include <algorithm>
#include <utility>

#include "base/ids.hpp"
#include "resilience/balance.hpp"
#include "resilience/configured.hpp"

namespace spillway::proxy {

using resilience::Ejections;
using resilience::HealthState;
using resilience::ServerSet;

namespace {

// Log rate limit of failures, per kind and server.
constexpr double kLinesPerSecond = 0.1;

resilience::EjectionLimits limits_of(const config::Upstream& settings) {
  return resilience::ejection_limits(settings.ejection, settings.servers.size());
}

resilience::Health health_of(const config::Upstream& settings) {
  const config::HealthCheck check = settings.health_check.value_or(config::HealthCheck{});
  return {check.healthy_after, check.unhealthy_after};
}

}  // namespace

Servers::Servers(const config::Upstream& settings)
    : in_flight(settings.servers.size()),
      config_(settings),
      all_(ServerSet::first(settings.servers.size())),
      ejection_enabled_(limits_of(settings).max_ejected > 0),
      shares_(settings.servers.size()),
      ejections_(limits_of(settings), settings.servers.size()),
      health_(settings.servers.size(), health_of(settings)),
      last_checks_(settings.servers.size()),
      counts_(settings.servers.size()) {}

ServerSet Servers::up() {
  if (ejected_.load(std::memory_order_relaxed) != 0) {
    const TimePoint now = Clock::now();
    if (now.time_since_epoch().count() >= next_return_.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(mutex_);
      publish(now);
    }
  }
  return all_ - ServerSet(unwell_.load(std::memory_order_relaxed)) -
         ServerSet(ejected_.load(std::memory_order_relaxed));
}

resilience::Rotation Servers::rotation() const {
  const ServerSet down(unwell_.load(std::memory_order_relaxed) |
                       ejected_.load(std::memory_order_relaxed));
  return resilience::Rotation::of(all_, down, ServerSet(on_trial_.load(std::memory_order_relaxed)));
}

// In shadow mode requests exceed the slots. With enforcing, a server would have at most its part.
resilience::InFlight Servers::counted(std::size_t server,
                                      const resilience::SlotParts& parts) const {
  resilience::InFlight its = in_flight.of(server);
  if (config_.overload.mode == config::Mode::shadow) its.all = std::min(its.all, parts.of(server));
  return its;
}

std::uint32_t Servers::usable_now(std::uint32_t slots) const {
  const resilience::SlotParts parts(slots, shares_);
  return rotation().usable(slots, parts,
                           [&](std::size_t server) { return counted(server, parts); });
}

std::uint32_t Servers::elsewhere(std::uint32_t slots) const {
  if (is_whole()) return 0;
  const resilience::SlotParts parts(slots, shares_);
  return rotation().elsewhere([&](std::size_t server) { return counted(server, parts); });
}

bool Servers::is_above_part(std::size_t server, std::uint32_t slots) {
  if (up().size() <= 1) return false;
  const resilience::SlotParts parts(slots, shares_);
  const resilience::ServerLoad load = rotation().load(server, parts, in_flight.of(server));
  return load.in_flight > load.part;
}

std::size_t Servers::choose(ServerSet among, std::uint64_t turn, Random& random,
                            std::uint32_t slots) {
  if (among.size() == 1) return among.front();
  const ServerSet up_among = among & up();
  const resilience::Rotation now = rotation();
  const resilience::SlotParts parts(slots, shares_);
  return resilience::choose(
      config_.balance, up_among.empty() ? among : up_among, turn, random,
      [&](std::size_t server) { return now.load(server, parts, in_flight.of(server)); });
}

Ejections::Change Servers::record(std::size_t server, bool failed,
                                  const std::optional<resilience::FailureSource>& source) {
  if (!failed && !is_troubled(server) && !is_suspect(source)) return Ejections::Change::none;
  const TimePoint now = Clock::now();
  const std::lock_guard lock(mutex_);
  const Ejections::Change change = ejections_.record(server, failed, now, source);
  if (change == Ejections::Change::ejected)
    counts_[server].ejections.fetch_add(1, std::memory_order_relaxed);
  publish(now);
  return change;
}

std::optional<std::uint64_t> Servers::Failures::add(TimePoint now) {
  const std::uint64_t all = count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!log_lines.try_take(kLinesPerSecond, 1, now)) return std::nullopt;
  const std::uint64_t before = logged.exchange(all, std::memory_order_relaxed);
  return all > before ? all - before - 1 : 0;
}

std::optional<std::uint64_t> Servers::count_failure(std::size_t server, observe::ServerFailure kind,
                                                    TimePoint now) {
  Counts& counts = counts_[server];
  counts.in_a_row.fetch_add(1, std::memory_order_relaxed);
  return counts.failures[index(kind)].add(now);
}

std::optional<std::uint64_t> Servers::count_shortage(observe::LocalShortage kind, TimePoint now) {
  return shortages_[index(kind)].add(now);
}

bool Servers::record_check(std::size_t server, observe::HealthCheckReport report) {
  using observe::HealthCheckResult;
  const HealthCheckResult result = result_of(report.reason);
  counts_[server].checks[index(result)].fetch_add(1, std::memory_order_relaxed);
  if (result == HealthCheckResult::skipped) return false;
  const TimePoint now = Clock::now();
  const std::lock_guard lock(mutex_);
  last_checks_[server] = std::move(report);
  if (!health_[server].record(result == HealthCheckResult::success)) return false;
  if (health_[server].state() == HealthState::well) ejections_.readmit(server, now);
  publish(now);
  return true;
}

HealthState Servers::health(std::size_t server) const {
  const std::lock_guard lock(mutex_);
  return health_[server].state();
}

void Servers::adopt(const Servers& previous) {
  const TimePoint now = Clock::now();
  const std::scoped_lock lock(mutex_, previous.mutex_);
  for (std::size_t here = 0; here < config_.servers.size(); ++here) {
    for (std::size_t there = 0; there < previous.config_.servers.size(); ++there) {
      if (config_.servers[here] != previous.config_.servers[there]) continue;
      // Without ejection in the new configuration, no trial would ever end.
      if (ejection_enabled_) ejections_.adopt(here, previous.ejections_, there, now);
      // Without checks in the new configuration an unwell server would never recover.
      if (config_.health_check && previous.config_.health_check) {
        health_[here].adopt(previous.health_[there].state());
        last_checks_[here] = previous.last_checks_[there];
      }
      break;
    }
  }
  publish(now);
}

void Servers::publish(TimePoint now) {
  ServerSet unwell, troubled;
  for (std::size_t server = 0; server < health_.size(); ++server) {
    if (health_[server].state() == HealthState::unwell) unwell.insert(server);
    if (ejections_.is_troubled(server)) troubled.insert(server);
  }
  unwell_.store(unwell.bits(), std::memory_order_relaxed);
  troubled_.store(troubled.bits(), std::memory_order_relaxed);
  suspects_.store(ejections_.suspects(), std::memory_order_relaxed);
  next_return_.store(ejections_.next_return(now).time_since_epoch().count(),
                     std::memory_order_relaxed);
  const ServerSet ejected = ejections_.ejected(now), on_trial = ejections_.on_trial(now);
  const ServerSet were_on_trial = ServerSet(on_trial_.load(std::memory_order_relaxed)) -
                                  ServerSet(ejected_.load(std::memory_order_relaxed));
  for (ServerSet rest = on_trial - were_on_trial; !rest.empty(); rest.erase(rest.front()))
    in_flight.begin_trial(rest.front());
  // Including the ejected ones, and stored first: no server seems in rotation between the two.
  on_trial_.store((on_trial | ejected).bits(), std::memory_order_relaxed);
  ejected_.store(ejected.bits(), std::memory_order_relaxed);
}

void Servers::read_snapshot(observe::UpstreamSnapshot& snapshot) const {
  const TimePoint now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (std::size_t kind = 0; kind < shortages_.size(); ++kind)
    snapshot.shortages[kind] = shortages_[kind].count.load(std::memory_order_relaxed);
  snapshot.servers.resize(health_.size());
  for (std::size_t server = 0; server < health_.size(); ++server) {
    observe::ServerSnapshot& of = snapshot.servers[server];
    of.health = health_[server].state();
    of.last_check = last_checks_[server];
    of.ejected_for = ejections_.left(server, now);
    of.is_up = of.health != HealthState::unwell && of.ejected_for == Duration{0};
    of.in_flight = in_flight[server];
    of.open_circuits = counts_[server].open_circuits.load(std::memory_order_relaxed);
    of.failures_in_a_row = counts_[server].in_a_row.load(std::memory_order_relaxed);
    for (std::size_t kind = 0; kind < of.failures.size(); ++kind)
      of.failures[kind] = counts_[server].failures[kind].count.load(std::memory_order_relaxed);
    of.ejections = counts_[server].ejections.load(std::memory_order_relaxed);
    for (std::size_t result = 0; result < of.checks.size(); ++result)
      of.checks[result] = counts_[server].checks[result].load(std::memory_order_relaxed);
  }
}

}  // namespace spillway::proxy
