// Lanes and Claim on SQLite. Lanes are not stored: they are groups of consecutive claimable jobs,
// and one search leads from one lane to the next. There may be as many lanes as jobs, so nothing
// walks through all of them at once.
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

  // The claims of one transaction share one kStepBytes.
  void begin() { bytes_ = 0; }
  void operator()(Lanes& command, jobs::WallTime now);
  void operator()(Claim& command, jobs::WallTime now);

  // By route, the due time of its first job, as of the last complete pass over the lanes. Examines
  // kStepsOfTotals more lanes.
  using OldestDue = std::map<std::int64_t, jobs::WallTime>;
  const OldestDue& oldest_due();

  static constexpr std::size_t kStepsOfTotals = 4096;

 private:
  using Entry = SqliteClaimable::Entry;

  // Takes `limit` steps from `at`: visits the first entry of each lane. False: there are no more.
  bool walk(Entry& at, std::size_t limit, const std::function<void(const Entry&)>& visit);
  Entry step_of(const std::optional<jobs::Lane>& lane) const;
  static jobs::LeasedJob leased_job(const Rows& rows, const jobs::Lane& lane);

  // Jobs that have expired but were not swept: after this many, a claim returns what it has found.
  static constexpr std::size_t kMostExpired = 4096;

  static constexpr Entry kBeforeAll{-1};

  SqliteLedger& ledger_;
  SqliteClaimable& claimable_;
  Statement claimed_, lease_, is_registered_;
  std::uint64_t bytes_ = 0;  // processed by claims
  Entry seen_ = kBeforeAll;  // last lane examined by oldest_due()
  OldestDue oldest_, oldest_so_far_;
};

}  // namespace spillway::store
