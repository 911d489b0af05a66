#include "store/sqlite/sqlite_claim.hpp"

#include <algorithm>
#include <utility>

#include "store/sqlite/sqlite_record.hpp"
#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

SqliteClaim::SqliteClaim(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable)
    : ledger_(ledger),
      claimable_(claimable),
      claimed_(database, sql::kClaimed),
      lease_(database, sql::kLease),
      is_registered_(database, sql::kIsRegistered) {}

bool SqliteClaim::walk(Entry& at, std::size_t limit,
                       const std::function<void(const Entry&)>& visit) {
  for (std::size_t n = 0; n < limit; ++n) {
    const std::optional<Entry> next = claimable_.next_lane(at);
    if (!next) return false;
    at = *next;
    visit(at);
  }
  return true;
}

SqliteClaim::Entry SqliteClaim::step_of(const std::optional<jobs::Lane>& lane) const {
  if (!lane) return kBeforeAll;
  const std::optional<std::int64_t> route = ledger_.find(lane->route);
  if (!route) return kBeforeAll;
  return {lane->rank, *route, static_cast<std::int64_t>(lane->tenant)};
}

void SqliteClaim::operator()(Lanes& command, jobs::WallTime now) {
  command.found.clear();
  command.next.reset();
  const auto lane_of = [this](const Entry& step) {
    return jobs::Lane{static_cast<std::uint8_t>(step.rank), ledger_.route(step.route).name,
                      static_cast<TenantId>(step.tenant)};
  };
  Entry at = step_of(command.after);
  const bool has_more = walk(at, command.limit, [&](const Entry& step) {
    const jobs::WallTime due = time_of(step.due);
    if (due <= now + command.ahead) command.found.push_back({lane_of(step), due});
  });
  if (has_more) command.next = lane_of(at);
}

const SqliteClaim::OldestDue& SqliteClaim::oldest_due() {
  const bool has_more = walk(seen_, kStepsOfTotals, [this](const Entry& step) {
    const auto [at, is_first] = oldest_so_far_.emplace(step.route, time_of(step.due));
    if (!is_first) at->second = std::min(at->second, time_of(step.due));
  });
  if (has_more) return oldest_;
  seen_ = kBeforeAll;
  oldest_ = std::move(oldest_so_far_);
  oldest_so_far_.clear();
  return oldest_;
}

// Reads a row of kClaimed.
jobs::LeasedJob SqliteClaim::leased_job(const Rows& rows, const jobs::Lane& lane) {
  jobs::LeasedJob job;
  rows.read(1, job.id.bytes);
  job.lane = lane;
  job.tenant_name = rows.text(2);
  job.accepted = time_of(rows.number(3));
  job.expires = time_of(rows.number(4));
  job.progress.state = jobs::JobState::leased;
  job.progress.due = time_of(rows.number(5));
  job.progress.attempts = static_cast<std::uint32_t>(rows.number(6));
  job.progress.recoveries = static_cast<std::uint32_t>(rows.number(7));
  job.progress.cause = static_cast<jobs::Cause>(rows.number(8));
  job.method = rows.text(9);
  job.target = rows.text(10);
  job.head = rows.text(12);
  job.body = rows.text(13);
  return job;
}

void SqliteClaim::operator()(Claim& command, jobs::WallTime now) {
  command.jobs.clear();
  command.is_cut = false;
  command.least_left.reset();
  const std::optional<std::int64_t> route = ledger_.find(command.lane.route);
  if (!route || !is_registered_.with(command.epoch).next()) return;
  const auto tenant = static_cast<std::int64_t>(command.lane.tenant);
  std::vector<Entry> found, stale;
  std::vector<jobs::JobState> states;
  {
    std::size_t expired = 0;
    SqliteClaimable::Scan scan(claimable_, {command.lane.rank, *route, tenant});
    while (found.size() < command.limit && expired < kMostExpired) {
      command.is_cut = bytes_ >= kStepBytes;
      if (command.is_cut) break;
      const std::optional<Entry> next = scan.next();
      if (!next || time_of(next->due) > now) break;
      Rows rows = claimed_.with(next->seq);
      if (!rows.next()) {
        stale.push_back(*next);
        continue;
      }
      if (time_of(rows.number(4)) <= now) {
        ++expired;
        continue;
      }
      const auto recoveries = static_cast<std::uint32_t>(rows.number(7));
      if (recoveries > command.most_recoveries) {
        command.least_left = std::min(command.least_left.value_or(recoveries), recoveries);
        continue;
      }
      command.jobs.push_back(leased_job(rows, command.lane));
      bytes_ += command.jobs.back().head.size() + command.jobs.back().body.size();
      found.push_back(*next);
      states.push_back(static_cast<jobs::JobState>(rows.number(11)));
    }
  }
  for (const Entry& entry : stale) claimable_.remove(entry);
  for (std::size_t n = 0; n < found.size(); ++n) {
    lease_.execute(found[n].seq, command.epoch);
    claimable_.remove(found[n]);
    ledger_.moved(*route, tenant, states[n], jobs::JobState::leased);
  }
}

}  // namespace spillway::store
