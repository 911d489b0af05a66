// The Idempotency-Keys that were accepted last: in memory in their order, and in the file in the
// order of their acceptance.
//
// Keys are hashes. In a table that is in their order each key of a commit would write a page of its
// own, and a commit takes as long as it flushes pages. So new keys are written behind each other,
// and found in memory. Beyond kMost they go on into the table in their order, a step with each
// transaction, so that neighbours share pages.
//
// They are in two tables: new ones go into one of them. When all that were in memory at a time have
// gone on, all of the other one have, and it is emptied at once. What the tables have besides is
// there already when it goes on a second time, after a restart.
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
  // A restart reads up to twice as many, and more if the one before was amid a round.
  static constexpr std::size_t kMost = 16'384;

  struct Known {
    jobs::Digest fingerprint{};
    jobs::JobId id;
  };
  using Entry = std::pair<const jobs::Digest, Known>;  // by its scope

  static Entry read(const Rows& rows);  // columns 0 to 2: scope, fingerprint, id

  explicit SqliteRecentKeys(Database& database);

  // After opening, and when a transaction was rolled back. If there are none they will be of that
  // window.
  void load(std::size_t window);
  void write();  // new ones, before a transaction's end

  std::size_t window() const { return window_; }  // of all of them
  bool is_empty() const { return keys_.empty(); }
  const Known* find(const jobs::Digest& scope) const;
  void add(const jobs::Digest& scope, const Known& known);
  // How many have to go on with this transaction.
  std::size_t surplus() const;
  // The next ones, which go on. What is new was written before.
  std::vector<Entry> take(std::size_t count);
  // None are left, nor in the file; new ones will be of that window.
  void begin(std::size_t window);

 private:
  using Keys = std::map<jobs::Digest, Known>;

  void end_round();

  Database& database_;
  std::array<RowInserts, 2> insert_;
  std::array<Statement, 2> clear_;
  std::size_t window_ = 0;
  Keys keys_;
  std::vector<Entry> new_;                // not written yet
  std::size_t added_ = 0;                 // in this transaction
  std::size_t filling_ = 0;               // the table of new ones
  bool is_moving_ = false;                // those of the other one go on
  std::optional<jobs::Digest> moved_to_;  // in this round
};

}  // namespace spillway::store
