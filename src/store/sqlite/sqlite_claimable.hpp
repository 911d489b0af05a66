// The jobs that may be claimed, in the order of their lanes, in a lane as they are due: a table in
// the file, and those that were accepted last in memory.
//
// Lanes lie apart in the table: there, each lane of a commit would write a page, and a commit takes
// as long as it flushes pages. So a new job is kept in memory, and may be claimed and done without
// ever being in the table. Beyond kMostRecent they go there in its order, a step with each
// transaction, so that neighbours share pages. Whatever happens, `jobs` says which may be claimed:
// those up to the number `written_to` are in the table, the others are looked for in both.
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
  // A restart looks at up to five times as many jobs, which takes a tenth of a second.
  static constexpr std::size_t kMostRecent = 16'384;
  static constexpr std::int64_t kMostNumbers = 2 * kMostRecent;  // beyond `written_to`

  // Of a job that waits and is not blocked. Times are milliseconds since 1970.
  struct Entry {
    std::int64_t rank = 0, route = 0, tenant = 0, due = 0, seq = 0;

    auto operator<=>(const Entry&) const = default;
  };
  static Entry before_lane(Entry of_lane);
  static Entry behind_lane(Entry of_lane);

  explicit SqliteClaimable(Database& database);

  void load();   // after opening, and when a transaction was rolled back
  void write();  // before a transaction's end

  void accepted(std::int64_t seq);     // in this transaction, also if the job is blocked
  void add_new(const Entry& entry);    // behind accepted()
  void add_again(const Entry& entry);  // of any other
  void remove(const Entry& entry);
  void turn_back(std::int64_t now, std::int64_t by);

  // The first entry of the next lane.
  std::optional<Entry> next_lane(const Entry& of_lane);
  // Entries of its lane before it; counts no further than `limit`.
  std::uint64_t count_before(const Entry& entry, std::uint64_t limit);

  // The entries of a lane in their order. Nothing is added or removed meanwhile.
  class Scan {
   public:
    Scan(SqliteClaimable& all, const Entry& of_lane);
    std::optional<Entry> next();

   private:
    void read();

    Rows rows_;
    std::optional<Entry> written_;  // the next one of the table
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
  std::vector<Entry> moved_;       // in one step; kept for its room
  std::size_t added_ = 0;          // to these, in this transaction
  std::int64_t newest_ = 0;        // job that was accepted
  std::int64_t written_to_ = 0;    // up to this number all are in the table
  bool is_changed_ = false;        // written_to_
  std::optional<Entry> moved_to_;  // in this round through `recent_`
  // When the round is over, all up to this number are in the table. Those of them that are added
  // meanwhile go there at once: the round may have passed their places.
  std::int64_t round_ = 0;
};

}  // namespace spillway::store
