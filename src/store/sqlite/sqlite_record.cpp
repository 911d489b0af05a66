#include "store/sqlite/sqlite_record.hpp"

#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

namespace {

std::optional<std::int64_t> number_if(bool condition, jobs::WallTime time) {
  if (!condition) return std::nullopt;
  return number_of(time);
}

}  // namespace

jobs::Progress read_progress(const Rows& rows, int first) {
  jobs::Progress progress;
  progress.state = static_cast<jobs::JobState>(rows.number(first));
  progress.due = time_of(rows.number(first + 1));
  progress.attempts = static_cast<std::uint32_t>(rows.number(first + 2));
  progress.recoveries = static_cast<std::uint32_t>(rows.number(first + 3));
  progress.cause = static_cast<jobs::Cause>(rows.number(first + 4));
  progress.ended = time_of(rows.number(first + 5));  // NULL is read as 0, which is kNoTime
  return progress;
}

std::optional<SqliteClaimable::Entry> SqliteRecord::claimable() const {
  if (!waits(progress.state) || is_blocked) return std::nullopt;
  return SqliteClaimable::Entry{rank, route, tenant, number_of(progress.due), seq};
}

SqliteRecords::SqliteRecords(Database& database, SqliteLedger& ledger, SqliteKeys& keys,
                             SqliteClaimable& claimable)
    : ledger_(ledger),
      keys_(keys),
      claimable_(claimable),
      has_job_(database, sql::kHasJob),
      by_id_(database, sql::kRecordById),
      by_seq_(database, sql::kRecordBySeq),
      progress_(database, sql::kProgress),
      first_ordered_(database, sql::kFirstOrdered),
      unblock_(database, sql::kUnblock),
      has_ordered_(database, sql::kHasOrdered),
      delete_job_(database, sql::kDeleteJob),
      delete_request_(database, sql::kDeleteRequest),
      delete_answer_(database, sql::kDeleteAnswer),
      answer_status_(database, sql::kAnswerStatus),
      delete_attempts_(database, sql::kDeleteAttempts),
      content_bytes_(database, sql::kContentBytes) {}

bool SqliteRecords::has(const jobs::JobId& id) { return has_job_.with(blob(id.bytes)).next(); }

std::optional<SqliteRecord> SqliteRecords::find(const jobs::JobId& id) {
  return read(by_id_.with(blob(id.bytes)));
}

std::optional<SqliteRecord> SqliteRecords::find(std::int64_t seq) {
  return read(by_seq_.with(seq));
}

std::optional<SqliteRecord> SqliteRecords::read(Rows rows) {
  if (!rows.next()) return std::nullopt;
  SqliteRecord record;
  record.seq = rows.number(0);
  rows.read(1, record.id.bytes);
  record.route = rows.number(2);
  record.progress = read_progress(rows, 3);
  record.epoch = rows.number(9);
  if (!rows.is_null(10)) record.ordered = rows.text(10);
  record.is_blocked = rows.number(11) != 0;
  record.expires = time_of(rows.number(12));
  record.kept = std::chrono::milliseconds(rows.number(13));
  if (!rows.is_null(14)) record.key_window = rows.number(14);
  record.tenant = rows.number(15);
  record.rank = rows.number(16);
  return record;
}

void SqliteRecords::change(const SqliteRecord& record, const jobs::Progress& after) {
  const bool ends = has_ended(after.state);
  const bool had_ended = has_ended(record.progress.state);
  // A restarted job is blocked while another job of its order has not ended.
  SqliteRecord changed = record;
  changed.progress = after;
  changed.is_blocked = record.is_blocked && !ends;
  if (had_ended && !ends && record.ordered) {
    changed.is_blocked = has_others(record.route, *record.ordered, record.seq);
  }
  progress_.execute(record.seq, static_cast<std::int64_t>(index(after.state)), number_of(after.due),
                    std::int64_t{after.attempts}, std::int64_t{after.recoveries},
                    static_cast<std::int64_t>(index(after.cause)), number_if(ends, after.ended),
                    number_if(ends, after.ended + record.kept), number_of(record.expires),
                    std::int64_t{changed.is_blocked});
  move(record, changed);
  ledger_.moved(record.route, record.tenant, record.progress.state, after.state);
  if (had_ended && !ends) {
    delete_answer_.execute(record.seq);
    answer_status_.execute(record.seq, std::int64_t{0});
  }
  if (record.key_window && ends && !had_ended) {
    keys_.ended(*record.key_window, after.ended, record.kept);
  }
  if (record.key_window && !ends && had_ended) keys_.reopened(*record.key_window);
  if (record.ordered && ends && !had_ended) unblock_next(record);
}

// Updates its entry among the claimable jobs.
void SqliteRecords::move(const SqliteRecord& before, const SqliteRecord& after) {
  const auto from = before.claimable(), to = after.claimable();
  if (from == to) return;
  if (from) claimable_.remove(*from);
  if (to) claimable_.add_again(*to);
}

bool SqliteRecords::has_others(std::int64_t route, const std::string& ordered, std::int64_t seq) {
  return has_ordered_.with(route, blob(ordered), seq).next();
}

void SqliteRecords::unblock_next(const SqliteRecord& record) {
  std::optional<std::int64_t> next;
  {
    Rows rows = first_ordered_.with(record.route, blob(*record.ordered));
    if (rows.next() && rows.number(1) != 0) next = rows.number(0);
  }
  // If the ended job was itself blocked by another, that one still blocks the next.
  if (!next || record.is_blocked) return;
  const std::optional<SqliteRecord> blocked = find(*next);
  if (!blocked) return;
  unblock_.execute(*next);
  SqliteRecord free = *blocked;
  free.is_blocked = false;
  move(*blocked, free);
}

std::uint64_t SqliteRecords::content_bytes(std::int64_t seq) {
  Rows rows = content_bytes_.with(seq);
  return rows.next() ? static_cast<std::uint64_t>(rows.number(0)) : 0;
}

void SqliteRecords::remove(const SqliteRecord& record) {
  delete_job_.execute(record.seq);
  delete_request_.execute(record.seq);
  delete_answer_.execute(record.seq);
  delete_attempts_.execute(record.seq);
  ledger_.moved(record.route, record.tenant, record.progress.state, std::nullopt);
}

}  // namespace spillway::store
