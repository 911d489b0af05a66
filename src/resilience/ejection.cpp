#include "resilience/ejection.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::resilience {

std::size_t max_ejected(double ratio, std::size_t servers) {
  if (!(ratio > 0)) return 0;
  // 0.29 of 100 is 29, though the product of the doubles is slightly less.
  constexpr double kHair = 1e-9;
  return static_cast<std::size_t>(
      std::floor(std::min(ratio, 1.0) * static_cast<double>(servers) + kHair));
}

Ejections::Ejections(const EjectionLimits& limits, std::size_t servers)
    : limits_(limits), servers_(servers) {
  limits_.base = std::max(limits_.base, Duration(1));
  limits_.max = std::max(limits_.max, limits_.base);
}

Ejections::Change Ejections::record(std::size_t server, bool failed, TimePoint now,
                                    const std::optional<FailureSource>& source) {
  Server& it = servers_[server];
  if (!failed) succeeded(server, source);
  if (now < it.until) return Change::none;
  if (!failed) {
    it.failures = 0;
    it.failed = false;
    if (it.spared_for > 0) --it.spared_for;
    it.row.clear();
    if (!it.on_probation) return Change::none;
    it.on_probation = false;
    return Change::back;
  }
  it.failed = true;
  if (source && !it.row.counts(*source, is_another_well(server, now))) return Change::none;
  if (it.spared_for > 0) it.spared_for = kSuccessesOfSpared;
  if (it.failures < UINT32_MAX) ++it.failures;
  if (limits_.consecutive_failures == 0) return Change::none;
  const std::uint32_t on_probation = source ? 2 : 1;
  const std::uint32_t limit = it.on_probation ? std::min(on_probation, limits_.consecutive_failures)
                                              : limits_.consecutive_failures;
  if (it.failures < limit) return Change::none;
  if (source && do_all_fail_alike(server, now)) return Change::none;
  const bool is_spared = ejected(now).size() >= limits_.max_ejected;
  it.spared_for = is_spared ? kSuccessesOfSpared : 0;
  if (is_spared) return Change::none;
  forget(it, now);
  const Duration time = next_time(it);
  it.until = now < kNever - time ? now + time : kNever;
  ++it.doublings;
  it.failures = 0;
  it.failed = false;
  it.row.clear();
  it.on_probation = true;
  return Change::ejected;
}

// An ejected server is no evidence.
bool Ejections::is_another_well(std::size_t server, TimePoint now) const {
  for (std::size_t other = 0; other < servers_.size(); ++other) {
    if (other != server && !servers_[other].failed && !is_ejected(other, now)) return true;
  }
  return false;
}

// An ejected server is no evidence, and a single server fails alone.
bool Ejections::do_all_fail_alike(std::size_t server, TimePoint now) const {
  const std::uint32_t failures = servers_[server].failures;
  bool is_alone = true;
  for (std::size_t other = 0; other < servers_.size(); ++other) {
    if (other == server || is_ejected(other, now)) continue;
    if (!servers_[other].failed || servers_[other].failures < (failures + 1) / 2) return false;
    is_alone = false;
  }
  return !is_alone;
}

void Ejections::succeeded(std::size_t server, const std::optional<FailureSource>& source) {
  for (std::size_t other = 0; source && other < servers_.size(); ++other) {
    if (other != server) servers_[other].row.succeeded_elsewhere(*source);
  }
}

std::uint64_t Ejections::suspects() const {
  std::uint64_t bits = 0;
  for (const Server& server : servers_) bits |= server.row.bits();
  return bits;
}

void Ejections::readmit(std::size_t server, TimePoint now) {
  if (is_ejected(server, now)) servers_[server].until = now;
}

void Ejections::adopt(std::size_t server, const Ejections& previous, std::size_t there,
                      TimePoint now) {
  const bool fits = !previous.is_ejected(there, now) || ejected(now).size() < limits_.max_ejected;
  servers_[server] = previous.servers_[there];
  if (!fits) readmit(server, now);
}

ServerSet Ejections::ejected(TimePoint now) const {
  ServerSet result;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (is_ejected(server, now)) result.insert(server);
  }
  return result;
}

ServerSet Ejections::on_trial(TimePoint now) const {
  ServerSet result;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    const Server& it = servers_[server];
    if ((it.on_probation || it.spared_for > 0) && !is_ejected(server, now)) result.insert(server);
  }
  return result;
}

Duration Ejections::left(std::size_t server, TimePoint now) const {
  return is_ejected(server, now) ? servers_[server].until - now : Duration{0};
}

TimePoint Ejections::next_return(TimePoint now) const {
  TimePoint next = kNever;
  for (const Server& server : servers_) {
    if (now < server.until) next = std::min(next, server.until);
  }
  return next;
}

Duration Ejections::next_time(const Server& server) const {
  Duration time = limits_.base;
  for (std::uint32_t n = 0; n < server.doublings && time < limits_.max; ++n) {
    time = time > limits_.max / 2 ? limits_.max : time * 2;
  }
  return time;
}

void Ejections::forget(Server& server, TimePoint now) const {
  if (server.doublings == 0) return;
  // Doublings beyond `max` would have no effect except that they have to be undone later.
  while (server.doublings > 1 && next_time({.doublings = server.doublings - 1}) == limits_.max)
    --server.doublings;
  const auto forgotten = (now - server.until) / limits_.base;
  server.doublings -=
      static_cast<std::uint32_t>(std::min<std::int64_t>(forgotten, std::int64_t{server.doublings}));
}

}  // namespace spillway::resilience
