// Executes the commands of a SQLite store, one batch in one transaction.
#pragma once

#include "store/contract/clock_steps.hpp"
#include "store/sqlite/sqlite_change.hpp"
#include "store/sqlite/sqlite_checkpoint.hpp"
#include "store/sqlite/sqlite_claim.hpp"
#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_enqueue.hpp"
#include "store/sqlite/sqlite_file.hpp"
#include "store/sqlite/sqlite_view.hpp"

namespace spillway::store {

class SqliteStore final : public JobStore {
 public:
  explicit SqliteStore(FileLock lock);
  ~SqliteStore() override;

  // `file` exists, and is a Spillway store (prepare_file).
  std::optional<Failure> open(const std::filesystem::path& file, const KeyMark& mark);

  std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) override;

 private:
  void check(const std::filesystem::path& file, std::optional<Failure>& failure);
  std::optional<KeyMark> kept_mark();
  bool is_of(const KeyMark& mark);
  void keep_mark(const KeyMark& mark);
  void load();
  void roll_back();
  void turn_back(jobs::WallTime now);
  void dispatch(Command& command, jobs::WallTime now);
  void total(Totals& command, jobs::WallTime now);

  FileLock lock_;
  Database database_;
  bool is_loaded_ = false;  // memory agrees with the file
  SqliteLedger ledger_;
  SqliteKeys keys_;
  SqliteClaimable claimable_;
  SqliteRecords records_;
  SqliteEnqueue enqueue_;
  SqliteClaim claim_;
  SqliteChange change_;
  SqliteView view_;
  Statement begin_, commit_, bytes_, oldest_letter_;
  Statement newest_, turn_back_;
  ClockSteps clock_;
  SqliteCheckpoint checkpoint_;
};

}  // namespace spillway::store
