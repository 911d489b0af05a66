// Enqueue on SQLite.
#pragma once

#include "store/sqlite_keys.hpp"
#include "store/sqlite_ledger.hpp"
#include "store/sqlite_record.hpp"

namespace spillway::store {

class SqliteEnqueue {
 public:
  SqliteEnqueue(Database& database, SqliteLedger& ledger, SqliteKeys& keys, SqliteRecords& records);

  void operator()(Enqueue& command, jobs::WallTime now);

 private:
  bool is_known(Enqueue& command);
  bool is_there(Enqueue& command);

  Database& database_;
  SqliteLedger& ledger_;
  SqliteKeys& keys_;
  SqliteRecords& records_;
  Statement insert_job_, insert_request_;
};

}  // namespace spillway::store
