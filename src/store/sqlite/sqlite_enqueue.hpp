// Enqueue, KnowsKey, HasUnfinished and Bury on SQLite.
#pragma once

#include "store/sqlite/sqlite_keys.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_record.hpp"

namespace spillway::store {

class SqliteEnqueue {
 public:
  SqliteEnqueue(Database& database, SqliteLedger& ledger, SqliteKeys& keys, SqliteRecords& records);

  void operator()(Enqueue& command, jobs::WallTime now);
  void operator()(KnowsKey& command, jobs::WallTime now);
  void operator()(HasUnfinished& command, jobs::WallTime now);
  void operator()(Bury& command, jobs::WallTime now);

 private:
  // As it is inserted.
  struct Place {
    std::int64_t route = 0;
    bool is_blocked = false;
    std::optional<std::int64_t> ready{}, window{};
  };

  // Accepted, or why the route has no room for it.
  Enqueue::Result room_for(const Enqueue& command, std::int64_t route);
  bool insert(const jobs::NewJob& job, const Place& place);
  bool is_known(Enqueue& command);
  bool is_there(const jobs::JobId& id);

  Database& database_;
  SqliteLedger& ledger_;
  SqliteKeys& keys_;
  SqliteRecords& records_;
  Statement insert_job_, insert_request_;
};

}  // namespace spillway::store
