#include "store/sqlite/sqlite_change.hpp"

#include <algorithm>
#include <set>

#include "jobs/life.hpp"
#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::JobState;
using jobs::WallTime;

SqliteChange::SqliteChange(Database& database, SqliteRecords& records, SqliteKeys& keys)
    : database_(database),
      records_(records),
      keys_(keys),
      join_(database, sql::kJoin),
      join_alone_(database, sql::kJoinAlone),
      renew_(database, sql::kRenew),
      leave_(database, sql::kLeave),
      is_registered_(database, sql::kIsRegistered),
      attempt_(database, sql::kInsertAttempt),
      old_attempts_(database, sql::kForgetOldAttempts),
      answer_(database, sql::kInsertAnswer),
      answer_status_(database, sql::kAnswerStatus),
      expiring_(database, sql::kExpiring),
      next_holder_(database, sql::kNextHolder),
      held_(database, sql::kHeld),
      forgettable_(database, sql::kForgettable) {}

std::vector<std::int64_t> SqliteChange::numbers(Rows rows) {
  std::vector<std::int64_t> found;
  while (rows.next()) found.push_back(rows.number(0));
  return found;
}

// Only one process has the file open, so any registered proxy before it has ended.
void SqliteChange::operator()(Join& command, WallTime now) {
  join_alone_.execute();
  join_.execute(std::string_view(command.name), number_of(now + command.lease));
  command.epoch = sqlite3_last_insert_rowid(database_.handle());
}

void SqliteChange::operator()(Renew& command, WallTime now) {
  renew_.execute(command.epoch, number_of(now + command.lease));
  command.is_lost = sqlite3_changes(database_.handle()) == 0;
}

void SqliteChange::operator()(Leave& command, WallTime now) {
  Release all{.epoch = command.epoch};
  (*this)(all, now);
  leave_.execute(command.epoch);
}

void SqliteChange::operator()(Release& command, WallTime now) {
  const std::set<jobs::JobId> kept(command.kept.begin(), command.kept.end());
  for (const std::int64_t seq : numbers(held_.with(command.epoch, std::int64_t{-1}))) {
    const std::optional<SqliteRecord> record = records_.find(seq);
    if (!record || kept.contains(record->id)) continue;
    records_.change(*record, jobs::given_back(record->progress, now));
  }
}

void SqliteChange::operator()(Settle& command, WallTime) {
  const std::optional<SqliteRecord> record = records_.find(command.id);
  command.is_lost = !record || record->progress.state != JobState::leased ||
                    record->epoch != command.epoch || command.progress.state == JobState::leased;
  if (command.is_lost) {
    const bool is_done = command.is_sent_again && record && record->progress == command.progress;
    command.is_lost = !is_done;
    return;
  }
  records_.change(*record, command.progress);
  write_history(*record, command);
}

void SqliteChange::write_attempt(const SqliteRecord& record, const jobs::Attempt& attempt) {
  attempt_.execute(record.seq, std::int64_t{attempt.number}, number_of(attempt.began),
                   number_of(attempt.ended), static_cast<std::int64_t>(index(attempt.cause)),
                   std::int64_t{attempt.status}, std::string_view(attempt.detail));
  if (record.progress.attempts + record.progress.recoveries > 0 ||
      record.progress.cause != jobs::Cause::none) {
    old_attempts_.execute(record.seq, static_cast<std::int64_t>(kMostAttempts));
  }
}

void SqliteChange::write_history(const SqliteRecord& record, const Settle& command) {
  if (command.attempt) write_attempt(record, *command.attempt);
  if (command.answer) {
    const jobs::StoredAnswer& answer = *command.answer;
    answer_.execute(record.seq, std::int64_t{answer.status}, std::int64_t{answer.is_cut},
                    blob(answer.fields), blob(answer.body));
    answer_status_.execute(record.seq, std::int64_t{answer.status});
  }
}

void SqliteChange::operator()(Cancel& command, WallTime now) {
  command.was.reset();
  command.is_done = false;
  const std::optional<SqliteRecord> record = records_.find(command.id);
  if (!record) return;
  command.was = record->progress.state;
  const auto after = jobs::cancelled(record->progress, command.cause, now);
  if (!after) return;
  records_.change(*record, *after);
  command.is_done = true;
}

void SqliteChange::operator()(Sweep& command, WallTime now) {
  command.expired.clear();
  command.recovered.clear();
  command.poisoned.clear();
  command.forgotten = 0;
  const bool more_expired = expire(command, now);
  const bool more_recovered = recover(command, now);
  const bool more_forgotten = forget(command, now);
  const bool more_keys = keys_.forget(now);
  command.has_more = more_expired || more_recovered || more_forgotten || more_keys;
}

bool SqliteChange::expire(Sweep& command, WallTime now) {
  const auto limit = static_cast<std::int64_t>(command.limit);
  const auto found = numbers(expiring_.with(number_of(now), limit));
  for (const std::int64_t seq : found) {
    const std::optional<SqliteRecord> record = records_.find(seq);
    if (!record) continue;
    const auto after = jobs::expired(record->progress, now);
    if (!after) continue;
    records_.change(*record, *after);
    command.expired.push_back(record->id);
  }
  return found.size() == command.limit;
}

bool SqliteChange::recover(Sweep& command, WallTime now) {
  std::size_t left = command.limit;
  std::int64_t epoch = -1;
  while (left > 0) {
    const auto holder = numbers(next_holder_.with(epoch));
    if (holder.empty()) return false;
    epoch = holder.front();
    if (is_registered_.with(epoch).next()) continue;
    const auto found = numbers(held_.with(epoch, static_cast<std::int64_t>(left)));
    left -= std::min(left, found.size());
    for (const std::int64_t seq : found) {
      const std::optional<SqliteRecord> record = records_.find(seq);
      if (!record) continue;
      const jobs::Progress after = jobs::recovered(record->progress, command.most_recoveries, now);
      records_.change(*record, after);
      write_attempt(*record, jobs::cut_off(now));
      (has_ended(after.state) ? command.poisoned : command.recovered).push_back(record->id);
    }
  }
  return true;
}

bool SqliteChange::forget(Sweep& command, WallTime now) {
  const auto limit = static_cast<std::int64_t>(command.limit);
  const auto found = numbers(forgettable_.with(number_of(now), limit));
  std::uint64_t bytes = 0;
  for (const std::int64_t seq : found) {
    if (bytes >= kStepBytes) return true;
    ++command.forgotten;
    const std::optional<SqliteRecord> record = records_.find(seq);
    if (!record) continue;
    bytes += records_.content_bytes(seq);
    records_.remove(*record);
  }
  return found.size() == command.limit;
}

}  // namespace spillway::store
