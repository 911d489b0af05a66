// Commands that change existing jobs, on SQLite: Settle, Cancel, Leave, Release and Sweep; and the
// registration of the proxy that holds the jobs.
#pragma once

#include "store/sqlite/sqlite_keys.hpp"
#include "store/sqlite/sqlite_record.hpp"

namespace spillway::store {

class SqliteChange {
 public:
  SqliteChange(Database& database, SqliteRecords& records, SqliteKeys& keys);

  void operator()(Join& command, jobs::WallTime now);
  void operator()(Renew& command, jobs::WallTime now);
  void operator()(Leave& command, jobs::WallTime now);
  void operator()(Release& command, jobs::WallTime now);
  void operator()(Announce&, jobs::WallTime) {}  // there is no other proxy
  void operator()(LetGo&, jobs::WallTime) {}
  void operator()(Settle& command, jobs::WallTime now);
  void operator()(Cancel& command, jobs::WallTime now);
  void operator()(Sweep& command, jobs::WallTime now);

 private:
  std::vector<std::int64_t> numbers(Rows rows);
  void write_attempt(const SqliteRecord& record, const jobs::Attempt& attempt);
  void write_history(const SqliteRecord& record, const Settle& command);
  bool expire(Sweep& command, jobs::WallTime now);
  bool recover(Sweep& command, jobs::WallTime now);
  bool forget(Sweep& command, jobs::WallTime now);

  Database& database_;
  SqliteRecords& records_;
  SqliteKeys& keys_;
  Statement join_, join_alone_, renew_, leave_, is_registered_;
  Statement attempt_, old_attempts_, answer_, answer_status_;
  Statement expiring_, next_holder_, held_, forgettable_;
};

}  // namespace spillway::store
