#include "store/sqlite/sqlite_view.hpp"

#include <algorithm>
#include <limits>

#include "jobs/life.hpp"
#include "store/contract/filter.hpp"
#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::JobState;
using jobs::WallTime;

namespace {

constexpr std::int64_t kFromTheFirst = std::numeric_limits<std::int64_t>::min();
constexpr Cursor kBeforeAll{kFromTheFirst, kFromTheFirst};

// Dead and expired jobs have an index of their own.
bool are_letters(const Filter& filter) {
  return filter.state == JobState::dead || filter.state == JobState::expired;
}

}  // namespace

SqliteView::SqliteView(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable,
                       SqliteRecords& records)
    : ledger_(ledger),
      claimable_(claimable),
      records_(records),
      by_id_(database, sql::kViewById),
      after_(database, sql::kViewsAfter),
      letters_(database, sql::kLetters),
      ended_(database, sql::kEnded),
      answer_(database, sql::kAnswer),
      request_(database, sql::kRequest),
      attempts_(database, sql::kAttempts) {}

SqliteView::Seen SqliteView::read(const Rows& rows) const {
  Seen seen;
  seen.seq = rows.number(0);
  jobs::JobView& job = seen.job;
  rows.read(1, job.id.bytes);
  job.lane.rank = static_cast<std::uint8_t>(rows.number(2));
  job.lane.route = ledger_.route(rows.number(3)).name;
  job.lane.tenant = static_cast<TenantId>(rows.number(4));
  job.tenant_name = rows.text(5);
  job.method = rows.text(6);
  job.target = rows.text(7);
  job.accepted = time_of(rows.number(8));
  job.expires = time_of(rows.number(9));
  job.progress = read_progress(rows, 10);
  job.body_bytes = static_cast<std::uint64_t>(rows.number(16));
  job.status = static_cast<std::uint16_t>(rows.number(17));
  seen.forget_at = rows.number(18);
  return seen;
}

std::optional<SqliteView::Seen> SqliteView::find(const jobs::JobId& id) {
  std::optional<Seen> seen;
  {
    Rows rows = by_id_.with(blob(id.bytes));
    if (rows.next()) seen = read(rows);
  }
  if (seen) seen->job.position = position(seen->job, seen->seq);
  return seen;
}

std::uint64_t SqliteView::position(const jobs::JobView& job, std::int64_t seq) {
  if (!waits(job.progress.state)) return 0;
  const std::optional<std::int64_t> route = ledger_.find(job.lane.route);
  const std::uint64_t before = claimable_.count_before(
      {job.lane.rank, route.value_or(0), static_cast<std::int64_t>(job.lane.tenant),
       number_of(job.progress.due), seq},
      kLastPosition);
  return before < kLastPosition ? before + 1 : 0;
}

void SqliteView::operator()(Find& command) {
  command.job.reset();
  if (std::optional<Seen> seen = find(command.id)) command.job = std::move(seen->job);
}

void SqliteView::operator()(ReadAnswer& command) {
  command.state.reset();
  command.answer.reset();
  Rows rows = answer_.with(blob(command.id.bytes));
  if (!rows.next()) return;
  command.state = static_cast<JobState>(rows.number(0));
  if (rows.is_null(1)) return;
  command.answer = jobs::StoredAnswer{static_cast<std::uint16_t>(rows.number(2)), rows.text(4),
                                      rows.text(5), rows.number(3) != 0};
}

void SqliteView::operator()(Inspect& command) {
  command.job.reset();
  command.head.clear();
  command.body.clear();
  command.attempts.clear();
  const std::optional<Seen> seen = find(command.id);
  if (!seen) return;
  command.job = seen->job;
  {
    Rows rows = request_.with(seen->seq, static_cast<std::int64_t>(command.body_limit));
    if (rows.next()) {
      command.head = rows.text(0);
      command.body = rows.text(1);
    }
  }
  Rows rows = attempts_.with(seen->seq, static_cast<std::int64_t>(kMostAttempts));
  while (rows.next()) {
    command.attempts.push_back({static_cast<std::uint32_t>(rows.number(0)), time_of(rows.number(1)),
                                time_of(rows.number(2)), static_cast<jobs::Cause>(rows.number(3)),
                                static_cast<std::uint16_t>(rows.number(4)), rows.text(5)});
  }
}

void SqliteView::operator()(List& command) {
  command.jobs.clear();
  command.next.reset();
  if (command.limit == 0) return;
  if (command.filter.id) {
    std::optional<Seen> seen = find(*command.filter.id);
    if (seen && !command.after && includes(command.filter, seen->job)) {
      seen->job.position = 0;
      command.jobs.push_back(std::move(seen->job));
    }
    return;
  }
  std::int64_t seq = kFromTheFirst;
  if (command.after) {
    const std::optional<SqliteRecord> last = records_.find(*command.after);
    if (!last) return;  // it was forgotten between two pages
    seq = last->seq;
  }
  Rows rows = (are_letters(command.filter) ? letters_ : after_).with(seq);
  jobs::JobId last;
  for (std::size_t seen = 0; rows.next(); ++seen) {
    if (command.jobs.size() == command.limit || seen == kMostLookedAt) {
      command.next = last;
      return;
    }
    Seen one = read(rows);
    last = one.job.id;
    if (includes(command.filter, one.job)) command.jobs.push_back(std::move(one.job));
  }
}

SqliteView::Chosen SqliteView::choose(const Filter& filter, std::size_t limit, Bound bound,
                                      Rows among) {
  Chosen chosen;
  Cursor last;
  std::uint64_t bytes = 0;
  for (std::size_t looked = 0; chosen.jobs.size() < limit && among.next(); ++looked) {
    if (looked == kMostLookedAt || bytes >= kStepBytes) {
      chosen.next = last;
      break;
    }
    Seen seen = read(among);
    last = {seen.forget_at, seen.seq};
    if (!includes(filter, seen.job)) continue;
    if (bound == Bound::content) bytes += records_.content_bytes(seen.seq);
    chosen.jobs.push_back(std::move(seen));
  }
  return chosen;
}

SqliteView::Chosen SqliteView::choose_one(const Filter& filter, std::size_t limit) {
  Chosen chosen;
  std::optional<Seen> seen = find(*filter.id);
  if (seen && limit > 0 && includes(filter, seen->job)) chosen.jobs.push_back(std::move(*seen));
  return chosen;
}

void SqliteView::operator()(Replay& command, WallTime now) {
  command.jobs.clear();
  const Cursor after = command.after.value_or(kBeforeAll);
  const Chosen chosen = command.filter.id ? choose_one(command.filter, command.limit)
                                          : choose(command.filter, command.limit, Bound::jobs,
                                                   letters_.with(after.number));
  command.next = chosen.next;
  WallTime due = now + command.delay;
  for (const Seen& seen : chosen.jobs) {
    const auto progress = jobs::replayed(seen.job.progress, due);
    if (!progress) continue;
    due += command.spacing;
    command.jobs.push_back(seen.job.id);
    if (command.is_dry_run) continue;
    std::optional<SqliteRecord> record = records_.find(seen.seq);
    if (!record) continue;
    record->expires = now + command.ttl;
    records_.change(*record, *progress);
  }
}

void SqliteView::operator()(Purge& command) {
  command.count = 0;
  const Cursor after = command.after.value_or(kBeforeAll);
  const Bound bound = command.is_dry_run ? Bound::jobs : Bound::content;
  const Chosen chosen = command.filter.id ? choose_one(command.filter, command.limit)
                                          : choose(command.filter, command.limit, bound,
                                                   ended_.with(after.time, after.number));
  command.next = chosen.next;
  for (const Seen& seen : chosen.jobs) {
    if (!has_ended(seen.job.progress.state)) continue;
    ++command.count;
    if (command.is_dry_run) continue;
    const std::optional<SqliteRecord> record = records_.find(seen.seq);
    if (record) records_.remove(*record);
  }
}

}  // namespace spillway::store
