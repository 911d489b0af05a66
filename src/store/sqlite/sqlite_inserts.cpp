#include "store/sqlite/sqlite_inserts.hpp"

#include <algorithm>

#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::JobState;

SqliteInserts::SqliteInserts(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable,
                             SqliteRecords& records)
    : database_(database),
      ledger_(ledger),
      claimable_(claimable),
      records_(records),
      jobs_(database, sql::kInsertJobs, sql::kJobRow, sql::kUnlessThere),
      requests_(database, sql::kInsertRequests, sql::kRequestRow, "") {}

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
  RowInserts::divide(std::span<const One>(waiting_),
                     [this](std::span<const One> part) { write(part); });
  waiting_.clear();
}

void SqliteInserts::write(std::span<const One> part) {
  jobs_.insert(part, [](Rows& rows, const One& one) {
    const jobs::NewJob& job = *one.job;
    std::optional<Blob> ordered;
    if (job.order) ordered = blob(*job.order);
    rows.add(one.seq, blob(job.id.bytes), std::int64_t{job.lane.rank}, one.place.route,
             one.tenant(), std::string_view(job.tenant_name), number_of(job.accepted), ordered,
             std::int64_t{one.place.is_blocked}, number_of(job.accepted), number_of(job.expires),
             std::int64_t{job.kept.count()}, one.place.window, std::string_view(job.method),
             std::string_view(job.target), static_cast<std::int64_t>(job.body.size()));
  });
  if (database_.failed()) return;
  const bool are_all_new = sqlite3_changes(database_.handle()) == static_cast<int>(part.size());
  are_all_new ? write_requests(part) : write_new(part);
}

// Used if some of these jobs existed already.
void SqliteInserts::write_new(std::span<const One> part) {
  for (const One& one : part) {
    const std::optional<SqliteRecord> record = records_.find(one.job->id);
    if (record && record->seq == one.seq)
      write_requests({&one, 1});
    else
      ledger_.moved(one.place.route, one.tenant(), JobState::queued, std::nullopt);
  }
}

void SqliteInserts::write_requests(std::span<const One> part) {
  requests_.insert(part, [](Rows& rows, const One& one) {
    rows.add(one.seq, blob(one.job->head), blob(one.job->body));
  });
  for (const One& one : part) {
    claimable_.accepted(one.seq);
    if (one.place.is_blocked) continue;
    claimable_.add_new(
        {one.job->lane.rank, one.place.route, one.tenant(), number_of(one.job->accepted), one.seq});
  }
}

}  // namespace spillway::store
