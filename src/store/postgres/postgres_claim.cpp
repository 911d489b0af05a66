// Lanes, Claim and Announce on PostgreSQL.
#include <algorithm>
#include <limits>

#include "store/postgres/postgres_announcement.hpp"
#include "store/postgres/postgres_batch.hpp"

namespace spillway::store {
namespace {

// The maximum of the column.
constexpr std::uint32_t kAnyRecoveries = std::numeric_limits<std::int32_t>::max();

// The columns of a claim.
jobs::LeasedJob leased_job(const PostgresRows& rows, int row, const jobs::Lane& lane) {
  jobs::LeasedJob job;
  job.id = rows.id(row, 1);
  job.lane = lane;
  job.progress.state = jobs::JobState::leased;
  job.progress.due = rows.time(row, 2);
  job.expires = rows.time(row, 3);
  job.progress.attempts = rows.number<std::uint32_t>(row, 4);
  job.progress.recoveries = rows.number<std::uint32_t>(row, 5);
  job.progress.cause = rows.cause(row, 6);
  job.accepted = rows.time(row, 7);
  job.tenant_name = rows.text(row, 8);
  job.method = rows.text(row, 9);
  job.target = rows.text(row, 10);
  job.head = rows.text(row, 11);
  job.body = rows.text(row, 12);
  return job;
}

void read_claims(const PostgresRows& rows, std::span<Claim* const> group, PostgresHints& hints) {
  std::vector<jobs::WallTime> first_left(group.size(), jobs::WallTime::max());
  for (Claim* const claim : group) {
    claim->jobs.clear();
    claim->is_cut = false;
    claim->least_left.reset();
  }
  for (int row = 0; row < rows.size(); ++row) {
    const auto place = static_cast<std::size_t>(rows.number<std::int64_t>(row, 0));
    if (place == 0 || place > group.size()) continue;
    Claim& claim = *group[place - 1];
    if (rows.is_null(row, 1)) {
      first_left[place - 1] = rows.time(row, 2);
      claim.least_left = rows.number<std::uint32_t>(row, 5);
    } else {
      claim.jobs.push_back(leased_job(rows, row, claim.lane));
      claim.is_cut = rows.flag(row, 14);
    }
  }
  for (std::size_t n = 0; n < group.size(); ++n) {
    const Claim& claim = *group[n];
    const bool found_some = std::ranges::any_of(
        claim.jobs, [](const jobs::LeasedJob& job) { return job.progress.recoveries > 0; });
    hints.met_recovered(claim.lane, found_some || claim.least_left);
    if (claim.jobs.empty()) continue;
    hints.claimed(claim.lane, std::min(claim.jobs.back().progress.due, first_left[n]));
    hints.changed(claim.lane, -static_cast<std::int64_t>(claim.jobs.size()));
  }
}

}  // namespace

void add_claims(PostgresBatch& batch, std::span<Claim* const> group) {
  if (group.empty()) return;
  PostgresColumn ranks(PostgresType::int2), routes(PostgresType::text);
  PostgresColumn tenants(PostgresType::int8), from(PostgresType::int8), limits(PostgresType::int8);
  PostgresColumn recoveries(PostgresType::int4);
  bool tells = false;
  for (const Claim* const claim : group) {
    const PostgresHints::Scan scan = batch.hints.scan(claim->lane, Clock::now());
    if (scan.is_full) batch.scans_fully = true;
    if (scan.tells) tells = true;
    ranks.add(static_cast<std::int16_t>(claim->lane.rank));
    routes.add(std::string_view(claim->lane.route));
    tenants.add(static_cast<std::int64_t>(claim->lane.tenant));
    from.add(scan.from);
    limits.add(sql_limit(claim->limit));
    recoveries.add(static_cast<std::int32_t>(std::min(claim->most_recoveries, kAnyRecoveries)));
  }
  PostgresParameters parameters;
  parameters.add(group.front()->epoch)
      .add(std::move(ranks))
      .add(std::move(routes))
      .add(std::move(tenants))
      .add(std::move(from))
      .add(std::move(limits))
      .add(std::move(recoveries))
      .add(sql_limit(kStepBytes / group.size()));
  const auto statement = tells ? PostgresStatement::claim_and_tell : PostgresStatement::claim;
  batch.add(statement, std::move(parameters),
            [&batch, claims = std::vector<Claim*>(group.begin(), group.end())](
                const PostgresRows& rows) { read_claims(rows, claims, batch.hints); });
}

void add_lanes(PostgresBatch& batch, Lanes& lanes) {
  const jobs::Lane after = lanes.after.value_or(jobs::Lane{});
  PostgresParameters parameters;
  parameters.add(static_cast<std::int64_t>(lanes.ahead.count()))
      .add(sql_limit(lanes.limit))
      .add(static_cast<std::int16_t>(lanes.after ? after.rank : -1))
      .add(std::string_view(after.route))
      .add(static_cast<std::int64_t>(after.tenant));
  batch.add(PostgresStatement::lanes, std::move(parameters), [&lanes](const PostgresRows& rows) {
    lanes.found.clear();
    lanes.next.reset();
    for (int row = 0; row < rows.size(); ++row) {
      Lanes::One one;
      one.lane.rank = static_cast<std::uint8_t>(rows.number<std::int16_t>(row, 0));
      one.lane.route = rows.text(row, 1);
      one.lane.tenant = static_cast<TenantId>(rows.number<std::uint64_t>(row, 2));
      one.oldest_due = rows.time(row, 3);
      const bool is_last = row + 1 == rows.size();
      if (is_last && static_cast<std::size_t>(rows.size()) >= lanes.limit) lanes.next = one.lane;
      if (rows.flag(row, 4)) lanes.found.push_back(std::move(one));
    }
  });
}

void add_announce(PostgresBatch& batch, const Announce& announce) {
  PostgresColumn texts(PostgresType::text);
  for (const jobs::Lane& lane : announce.lanes) {
    if (const auto text = announcement(lane)) texts.add(std::string_view(*text));
  }
  for (const AskedCancel& cancel : announce.cancels)
    texts.add(std::string_view(announcement(cancel)));
  PostgresParameters parameters;
  parameters.add(std::move(texts));
  batch.add(PostgresStatement::announce, std::move(parameters));
}

}  // namespace spillway::store
