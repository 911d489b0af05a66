#include "store/sqlite/sqlite_inserts.hpp"

#include <algorithm>
#include <string>

#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::JobState;

namespace {

std::string repeated(const char* begin, const char* row, std::size_t count, const char* end) {
  std::string sql = begin;
  for (std::size_t n = 0; n < count; ++n) sql.append(n == 0 ? "" : ", ").append(row);
  return sql + end;
}

}  // namespace

SqliteInserts::Statements::Statements(Database& database, std::size_t together)
    : count(together),
      jobs(database, repeated(sql::kInsertJobs, sql::kJobRow, together, sql::kUnlessThere)),
      requests(database, repeated(sql::kInsertRequests, sql::kRequestRow, together, "")) {}

// Largest first, the last one for a single job.
SqliteInserts::SqliteInserts(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable,
                             SqliteRecords& records)
    : database_(database),
      ledger_(ledger),
      claimable_(claimable),
      records_(records),
      statements_{Statements(database, 16), Statements(database, 4), Statements(database, 1)} {}

void SqliteInserts::load() {
  waiting_.clear();
  newest_ = database_.number("SELECT max(seq) FROM jobs").value_or(0);
}

std::int64_t SqliteInserts::add(const jobs::NewJob& job, const Place& place) {
  const One one{&job, place, ++newest_};
  ledger_.moved(place.route, one.tenant(), std::nullopt, JobState::queued);
  waiting_.push_back(one);
  return one.seq;
}

bool SqliteInserts::has(const jobs::JobId& id) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&id](const One& one) { return one.job->id == id; });
}

void SqliteInserts::write() {
  std::span<const One> left(waiting_);
  for (Statements& statements : statements_) {
    for (; left.size() >= statements.count; left = left.subspan(statements.count))
      write(statements, left.first(statements.count));
  }
  waiting_.clear();
}

void SqliteInserts::write(Statements& statements, std::span<const One> together) {
  {
    Rows rows = statements.jobs.with();
    for (const One& one : together) {
      const jobs::NewJob& job = *one.job;
      std::optional<Blob> ordered;
      if (job.order) ordered = blob(*job.order);
      rows.add(one.seq, blob(job.id.bytes), std::int64_t{job.lane.rank}, one.place.route,
               one.tenant(), std::string_view(job.tenant_name), number_of(job.accepted), ordered,
               std::int64_t{one.place.is_blocked}, number_of(job.accepted), number_of(job.expires),
               std::int64_t{job.kept.count()}, one.place.window, std::string_view(job.method),
               std::string_view(job.target), static_cast<std::int64_t>(job.body.size()));
    }
    rows.finish();
  }
  if (database_.failed()) return;
  if (sqlite3_changes(database_.handle()) != static_cast<int>(together.size()))
    return write_new(together);
  Rows rows = statements.requests.with();
  for (const One& one : together) rows.add(one.seq, blob(one.job->head), blob(one.job->body));
  rows.finish();
  inserted(together);
}

// Some were there already.
void SqliteInserts::write_new(std::span<const One> together) {
  for (const One& one : together) {
    const std::optional<SqliteRecord> record = records_.find(one.job->id);
    if (record && record->seq == one.seq) {
      statements_.back().requests.execute(one.seq, blob(one.job->head), blob(one.job->body));
      inserted({&one, 1});
    } else {
      ledger_.moved(one.place.route, one.tenant(), JobState::queued, std::nullopt);
    }
  }
}

void SqliteInserts::inserted(std::span<const One> together) {
  for (const One& one : together) {
    if (one.place.is_blocked) continue;
    claimable_.add_new(
        {one.job->lane.rank, one.place.route, one.tenant(), number_of(one.job->accepted), one.seq});
  }
}

}  // namespace spillway::store
