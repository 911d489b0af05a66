// The most recently accepted Idempotency-Keys: in memory in key order, and in the file in the order
// of their acceptance.
//
// Keys are hashes. In a table in key order each key in a commit would write a page of its own, and
// a commit's duration depends on the number of pages flushed. So new keys are appended in the file,
// and looked up in memory. Beyond kMost they move to the table of their window in key order, a
// batch with each transaction, so that neighbours share pages.
//
// They are in two tables: new ones are written to one of them. When all keys that were in memory at
// some time have moved, all keys of the other table have, and it is emptied at once. Any other keys
// in the tables that move a second time, after a restart, are then already there.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_row_inserts.hpp"

namespace spillway::store {

class SqliteRecentKeys {
 public:
  // A restart reads up to twice as many, and more if the previous one was in the middle of a round.
  static constexpr std::size_t kMost = 16'384;

  struct Known {
    jobs::Digest fingerprint{};
    jobs::JobId id;
  };
  using Entry = std::pair<const jobs::Digest, Known>;  // by its scope

  static Entry read(const Rows& rows);  // columns 0 to 2: scope, fingerprint, id

  explicit SqliteRecentKeys(Database& database);

  // After opening, and after a rollback. If there are no keys, new ones belong to that
  // window.
  void load(std::size_t window);
  void write();  // writes new ones, before a transaction's end

  std::size_t window() const { return window_; }  // of all these keys
  bool is_empty() const { return keys_.empty(); }
  const Known* find(const jobs::Digest& scope) const;
  void add(const jobs::Digest& scope, const Known& known);
  // How many keys have to move with this transaction.
  std::size_t surplus() const;
  // Returns the next keys to move. New ones must have been written before.
  std::vector<Entry> take(std::size_t count);
  // Removes all, in the file too; new ones belong to that window.
  void begin(std::size_t window);

 private:
  using Keys = std::map<jobs::Digest, Known>;

  void end_round();

  Database& database_;
  std::array<RowInserts, 2> insert_;
  std::array<Statement, 2> clear_;
  std::size_t window_ = 0;
  Keys keys_;
  std::vector<Entry> new_;                // not yet written
  std::size_t added_ = 0;                 // in this transaction
  std::size_t filling_ = 0;               // the table that gets new keys
  bool is_moving_ = false;                // the keys of the other table are being moved
  std::optional<jobs::Digest> moved_to_;  // in this round
};

}  // namespace spillway::store
