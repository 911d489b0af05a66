// Verbs that look at jobs, and those of the operator, on SQLite: Find, ReadAnswer, Inspect, List,
// Replay and Purge.
#pragma once

#include "store/sqlite_ledger.hpp"
#include "store/sqlite_record.hpp"

namespace spillway::store {

class SqliteView {
 public:
  SqliteView(Database& database, SqliteLedger& ledger, SqliteRecords& records);

  void operator()(Find& command);
  void operator()(ReadAnswer& command);
  void operator()(Inspect& command);
  void operator()(List& command);
  void operator()(Replay& command, jobs::WallTime now);
  void operator()(Purge& command);

 private:
  struct Seen {
    std::int64_t seq = 0;
    jobs::JobView job;
  };
  Seen read(const Rows& rows) const;
  std::optional<Seen> find(const jobs::JobId& id);
  std::uint64_t position(const jobs::JobView& job, std::int64_t seq);
  // Those of `rows` that the filter includes, `limit` at most.
  std::vector<Seen> choose(const Filter& filter, std::size_t limit, Statement& among, bool by_seq);

  // A List looks at so many jobs at most.
  static constexpr std::size_t kMostListed = 10000;

  SqliteLedger& ledger_;
  SqliteRecords& records_;
  Statement by_id_, after_, letters_, ended_, position_, answer_, request_, attempts_;
};

}  // namespace spillway::store
