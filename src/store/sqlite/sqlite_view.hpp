// Commands that read jobs, and the operator's commands, on SQLite: Find, ReadAnswer, Inspect, List,
// Replay and Purge.
#pragma once

#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "store/sqlite/sqlite_record.hpp"

namespace spillway::store {

class SqliteView {
 public:
  SqliteView(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable,
             SqliteRecords& records);

  void operator()(Find& command);
  void operator()(ReadAnswer& command);
  void operator()(Inspect& command);
  void operator()(List& command);
  void operator()(Replay& command, jobs::WallTime now);
  void operator()(Purge& command);

 private:
  struct Seen {
    std::int64_t seq = 0;
    std::int64_t forget_at = 0;
    jobs::JobView job;
  };
  struct Chosen {
    std::vector<Seen> jobs;
    std::optional<Cursor> next;
  };
  Seen read(const Rows& rows) const;
  std::optional<Seen> find(const jobs::JobId& id);
  std::uint64_t position(const jobs::JobView& job, std::int64_t seq);
  enum class Bound : std::uint8_t { jobs, content };  // content: limited by kStepBytes, too
  // Chooses from `among` the jobs that match the filter, at most `limit`.
  Chosen choose(const Filter& filter, std::size_t limit, Bound bound, Rows among);
  Chosen choose_one(const Filter& filter, std::size_t limit);

  SqliteLedger& ledger_;
  SqliteClaimable& claimable_;
  SqliteRecords& records_;
  Statement by_id_, after_, letters_, ended_, answer_, request_, attempts_;
};

}  // namespace spillway::store
