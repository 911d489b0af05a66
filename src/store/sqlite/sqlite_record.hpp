// The part of a stored job that changes, and all consequences of a change: its route's counters,
// its place in its order and among the claimable jobs, its key's window, the time at which it is
// forgotten.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_keys.hpp"
#include "store/sqlite/sqlite_ledger.hpp"

namespace spillway::store {

struct SqliteRecord {
  std::int64_t seq = 0;
  jobs::JobId id;
  std::int64_t route = 0;
  std::int64_t tenant = 0;
  std::int64_t rank = 0;
  jobs::Progress progress;
  Epoch epoch = 0;  // 0: it is not leased
  std::optional<std::string> ordered;
  bool is_blocked = false;
  jobs::WallTime expires{};
  std::chrono::milliseconds kept{};
  std::optional<std::int64_t> key_window;

  // Its entry as a claimable job; nullopt: it may not be claimed.
  std::optional<SqliteClaimable::Entry> claimable() const;
};

// The columns from `first` on: state, due, attempts, recoveries, cause, ended.
jobs::Progress read_progress(const Rows& rows, int first);

class SqliteRecords {
 public:
  SqliteRecords(Database& database, SqliteLedger& ledger, SqliteKeys& keys,
                SqliteClaimable& claimable);

  bool has(const jobs::JobId& id);
  std::optional<SqliteRecord> find(const jobs::JobId& id);
  std::optional<SqliteRecord> find(std::int64_t seq);
  // Stores the new progress, which is never leased; also `record.expires`.
  void change(const SqliteRecord& record, const jobs::Progress& after);
  // Whether another job of the order, earlier or later, has not ended.
  bool has_others(std::int64_t route, const std::string& ordered, std::int64_t seq);
  // The size of head, body and answer.
  std::uint64_t content_bytes(std::int64_t seq);
  void remove(const SqliteRecord& record);

 private:
  std::optional<SqliteRecord> read(Rows rows);
  void move(const SqliteRecord& before, const SqliteRecord& after);
  void unblock_next(const SqliteRecord& record);

  SqliteLedger& ledger_;
  SqliteKeys& keys_;
  SqliteClaimable& claimable_;
  Statement has_job_, by_id_, by_seq_, progress_, first_ordered_, unblock_, has_ordered_;
  Statement delete_job_, delete_request_, delete_answer_, answer_status_, delete_attempts_,
      content_bytes_;
};

}  // namespace spillway::store
