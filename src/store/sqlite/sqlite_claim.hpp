// Lanes and Claim on SQLite. Lanes are not stored: they are the steps among the claimable jobs, and
// one search leads from a lane to the next. There may be as many as jobs, so nothing goes through
// all of them at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_ledger.hpp"

namespace spillway::store {

class SqliteClaim {
 public:
  SqliteClaim(Database& database, SqliteLedger& ledger, SqliteClaimable& claimable);

  // Claims of one transaction go through kStepBytes together.
  void begin() { bytes_ = 0; }
  void operator()(Lanes& command, jobs::WallTime now);
  void operator()(Claim& command, jobs::WallTime now);

  // By route, when the first of its jobs is due, as of the last time that all lanes were looked at.
  // Looks at kStepsOfTotals more.
  using OldestDue = std::map<std::int64_t, jobs::WallTime>;
  const OldestDue& oldest_due();

  static constexpr std::size_t kStepsOfTotals = 4096;

 private:
  using Entry = SqliteClaimable::Entry;

  // `limit` steps from there: visits the first entry of each lane. False: there are no more.
  bool walk(Entry& at, std::size_t limit, const std::function<void(const Entry&)>& visit);
  Entry step_of(const std::optional<jobs::Lane>& lane) const;
  static jobs::LeasedJob leased_job(const Rows& rows, const jobs::Lane& lane);

  // Jobs that have expired but were not swept: beyond so many, a claim gives what it has found.
  static constexpr std::size_t kMostExpired = 4096;

  static constexpr Entry kBeforeAll{-1};

  SqliteLedger& ledger_;
  SqliteClaimable& claimable_;
  Statement claimed_, lease_, is_registered_;
  std::uint64_t bytes_ = 0;  // that claims have gone through
  Entry seen_ = kBeforeAll;  // by oldest_due()
  OldestDue oldest_, oldest_so_far_;
};

}  // namespace spillway::store
