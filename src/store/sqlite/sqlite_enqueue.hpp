// Enqueue, KnowsKey, HasUnfinished and Bury on SQLite.
#pragma once

#include "store/sqlite/sqlite_inserts.hpp"
#include "store/sqlite/sqlite_keys.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_record.hpp"

namespace spillway::store {

class SqliteEnqueue {
 public:
  SqliteEnqueue(Database& database, SqliteLedger& ledger, SqliteKeys& keys,
                SqliteClaimable& claimable, SqliteRecords& records);

  void load() { inserts_.load(); }
  // Writes new jobs; called before any other command and at the end of a transaction.
  void write() { inserts_.write(); }

  void operator()(Enqueue& command, jobs::WallTime now);
  void operator()(KnowsKey& command, jobs::WallTime now);
  void operator()(HasUnfinished& command, jobs::WallTime now);
  void operator()(Bury& command, jobs::WallTime now);

 private:
  // accepted, or why the route has no room for the job.
  Enqueue::Result room_for(const Enqueue& command, std::int64_t route);
  bool is_known(Enqueue& command);
  bool is_there(const jobs::JobId& id);

  SqliteLedger& ledger_;
  SqliteKeys& keys_;
  SqliteRecords& records_;
  SqliteInserts inserts_;
};

}  // namespace spillway::store
