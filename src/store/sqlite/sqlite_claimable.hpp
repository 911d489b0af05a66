// The claimable jobs, in the order of their lanes, and within a lane by due time: a table in the
// file, plus the most recently accepted jobs in memory.
//
// Lanes are far apart in the table: each lane in a commit would write a page there, and a commit
// takes as long as it flushes pages. So a new job is kept in memory, and may be claimed and done
// without ever being in the table. Beyond kMostRecent, jobs move there in its order, a batch with
// each transaction, so that neighbours share pages. In any case `jobs` determines which may be
// claimed: those up to number `written_to` are in the table, the others are looked up in both.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_row_inserts.hpp"

namespace spillway::store {

class SqliteClaimable {
 public:
  // A restart reads up to five times as many jobs, which takes a tenth of a second.
  static constexpr std::size_t kMostRecent = 16'384;
  static constexpr std::int64_t kMostNumbers = 2 * kMostRecent;  // beyond `written_to`

  // A job that waits and is not blocked. Times are milliseconds since 1970.
  struct Entry {
    std::int64_t rank = 0, route = 0, tenant = 0, due = 0, seq = 0;

    auto operator<=>(const Entry&) const = default;
  };
  static Entry before_lane(Entry of_lane);
  static Entry behind_lane(Entry of_lane);

  explicit SqliteClaimable(Database& database);

  void load();   // after opening, and after a rollback
  void write();  // before a transaction's end

  void accepted(std::int64_t seq);     // in this transaction, even if the job is blocked
  void add_new(const Entry& entry);    // call after accepted()
  void add_again(const Entry& entry);  // for any other job
  void remove(const Entry& entry);
  void turn_back(std::int64_t now, std::int64_t by);

  // The first entry of the next lane.
  std::optional<Entry> next_lane(const Entry& of_lane);
  // The entries of its lane before it; counts up to `limit`.
  std::uint64_t count_before(const Entry& entry, std::uint64_t limit);

  // Iterates over a lane's entries in order. Nothing may be added or removed meanwhile.
  class Scan {
   public:
    Scan(SqliteClaimable& all, const Entry& of_lane);
    std::optional<Entry> next();

   private:
    void read();

    Rows rows_;
    std::optional<Entry> written_;  // the next one from the table
    std::set<Entry>::const_iterator recent_, recent_end_;
  };

 private:
  bool is_behind() const;
  void move(std::size_t count);
  void write_down(std::span<const Entry> entries);

  Database& database_;
  RowInserts insert_;
  Statement delete_, next_lane_, of_lane_, count_before_, written_up_to_;
  std::set<Entry> recent_;
  std::vector<Entry> moved_;       // in one batch; kept to reuse its memory
  std::size_t added_ = 0;          // entries added in this transaction
  std::int64_t newest_ = 0;        // number of the last accepted job
  std::int64_t written_to_ = 0;    // all up to this number are in the table
  bool is_changed_ = false;        // whether written_to_ is
  std::optional<Entry> moved_to_;  // in this pass through `recent_`
  // When the pass ends, all up to this number are in the table. Those of them that are added
  // meanwhile are written at once, since the pass may be beyond their places.
  std::int64_t round_ = 0;
};

}  // namespace spillway::store
