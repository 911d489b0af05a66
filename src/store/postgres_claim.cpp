#include "store/postgres_announcement.hpp"
#include "store/postgres_batch.hpp"

namespace spillway::store {
namespace {

// The columns of kClaim.
jobs::LeasedJob leased_job(const PostgresRows& rows, int row, const jobs::Lane& lane) {
  jobs::LeasedJob job;
  job.id = rows.id(row, 0);
  job.lane = lane;
  job.progress.state = jobs::JobState::leased;
  job.progress.due = rows.time(row, 1);
  job.expires = rows.time(row, 2);
  job.progress.attempts = rows.number<std::uint32_t>(row, 3);
  job.progress.recoveries = rows.number<std::uint32_t>(row, 4);
  job.progress.cause = rows.cause(row, 5);
  job.accepted = rows.time(row, 6);
  job.tenant_name = rows.text(row, 7);
  job.method = rows.text(row, 8);
  job.target = rows.text(row, 9);
  job.head = rows.text(row, 10);
  job.body = rows.text(row, 11);
  return job;
}

}  // namespace

void add_claim(PostgresBatch& batch, Claim& claim) {
  const PostgresHints::Scan scan = batch.hints.scan(claim.lane, Clock::now());
  if (scan.is_full) batch.scans_fully = true;
  PostgresParameters parameters;
  parameters.add(claim.epoch)
      .add(static_cast<std::int16_t>(claim.lane.rank))
      .add(std::string_view(claim.lane.route))
      .add(static_cast<std::int64_t>(claim.lane.tenant))
      .add(scan.from)
      .add(sql_limit(claim.limit));
  batch.add(PostgresStatement::claim, std::move(parameters),
            [&batch, &claim](const PostgresRows& rows) {
              claim.jobs.clear();
              for (int row = 0; row < rows.size(); ++row) {
                claim.jobs.push_back(leased_job(rows, row, claim.lane));
              }
              if (claim.jobs.empty()) return;
              batch.hints.claimed(claim.lane, claim.jobs.back().progress.due);
              batch.hints.changed(claim.lane.route, -static_cast<std::int64_t>(rows.size()));
            });
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
  PostgresParameters parameters;
  parameters.add(std::move(texts));
  batch.add(PostgresStatement::announce, std::move(parameters));
}

}  // namespace spillway::store
