#include "store/postgres/postgres_hints.hpp"

#include <algorithm>
#include <utility>

namespace spillway::store {

PostgresHints::Scan PostgresHints::scan(const jobs::Lane& lane, TimePoint now) {
  if (marks_.size() >= kMostLanes) marks_.clear();
  const auto [found, is_new] = marks_.try_emplace(lane);
  Mark& mark = found->second;
  const Duration every = std::max(kFullScanEvery, 20 * full_scan_);
  if (is_new || now - mark.full_scan >= every) {
    mark.full_scan = now;
    mark.low = jobs::kNoTime;
  }
  mark.low = std::min(mark.low, first_appeared_since(std::exchange(mark.seen, appearances_)));
  const bool has_new = std::exchange(mark.recoveries, recoveries_) != recoveries_;
  if (mark.low == jobs::kNoTime) return {};
  return {.from = mark.low - kSlack, .is_full = false, .tells = mark.has_recovered || has_new};
}

void PostgresHints::met_recovered(const jobs::Lane& lane, bool has_some) {
  const auto found = marks_.find(lane);
  if (found != marks_.end()) found->second.has_recovered = has_some;
}

void PostgresHints::claimed(const jobs::Lane& lane, jobs::WallTime last_due) {
  const auto found = marks_.find(lane);
  if (found != marks_.end()) found->second.low = std::max(found->second.low, last_due);
}

// There may be as many lanes as jobs, and this is called for each stored job: so no lane's mark is
// touched.
void PostgresHints::appeared(jobs::WallTime due) {
  while (!appeared_.empty() && appeared_.back().due >= due) appeared_.pop_back();
  appeared_.push_back({++appearances_, due});
  if (appeared_.size() < kMostAppearances) return;
  for (std::size_t i = 0; i < appeared_.size() / 2; ++i)
    appeared_[i] = {appeared_[2 * i + 1].number, appeared_[2 * i].due};
  appeared_.resize(appeared_.size() / 2);
}

jobs::WallTime PostgresHints::first_appeared_since(std::uint64_t seen) const {
  const auto first = std::ranges::upper_bound(appeared_, seen, {}, &Appearance::number);
  return first == appeared_.end() ? jobs::WallTime::max() : first->due;
}

bool PostgresHints::needs_count(const std::string& route, std::uint64_t more, std::uint64_t most,
                                TimePoint now) const {
  const auto found = counts_.find(route);
  if (found == counts_.end()) return true;
  const Duration age = now - found->second.at;
  const bool fits = waiting(route) + more <= most;
  return age >= (fits ? std::max(kCountEvery, 50 * found->second.took) : 20 * found->second.took);
}

void PostgresHints::counted(const std::string& route, std::uint64_t waiting, TimePoint now,
                            Duration took) {
  counts_[route] = {static_cast<std::int64_t>(waiting), now, took};
}

void PostgresHints::changed(const std::string& route, std::int64_t by) {
  const auto found = counts_.find(route);
  if (found != counts_.end()) found->second.waiting += by;
}

void PostgresHints::changed(const jobs::Lane& lane, std::int64_t by) {
  changed(lane.route, by);
  const auto found = tenants_.find(lane.route);
  if (found == tenants_.end()) return;
  Tenants& waiting = found->second.waiting;
  const auto its = waiting.try_emplace(lane.tenant).first;
  its->second += by;
  if (its->second <= 0) waiting.erase(its);  // no more tenants than waiting jobs
}

bool PostgresHints::needs_tenants(const std::string& route, TimePoint now) const {
  const auto found = tenants_.find(route);
  if (found == tenants_.end()) return true;
  const TenantCount& last = found->second;
  return now - last.at >= std::max(kCountEvery, 50 * last.took);
}

void PostgresHints::counted(const std::string& route, Tenants tenants, TimePoint now,
                            Duration took) {
  tenants_[route] = {std::move(tenants), now, took};
}

std::uint64_t PostgresHints::waiting_of(const jobs::Lane& lane) const {
  const auto route = tenants_.find(lane.route);
  if (route == tenants_.end()) return 0;
  const auto its = route->second.waiting.find(lane.tenant);
  if (its == route->second.waiting.end()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(its->second, 0));
}

std::uint64_t PostgresHints::waiting(const std::string& route) const {
  const auto found = counts_.find(route);
  if (found == counts_.end()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(found->second.waiting, 0));
}

void PostgresHints::forget() {
  marks_.clear();
  appeared_.clear();
  forget_counts();
}

}  // namespace spillway::store
