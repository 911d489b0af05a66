// Lanes and Claim on SQLite. Lanes are not stored: they are the steps of the index of claimable
// jobs, from each of which the next one is one search away. There may be as many as jobs, so
// nothing goes through all of them at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "store/sqlite/sqlite_ledger.hpp"

namespace spillway::store {

class SqliteClaim {
 public:
  SqliteClaim(Database& database, SqliteLedger& ledger);

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
  struct Step {
    std::int64_t rank = -1;  // before the first
    std::int64_t route = 0;
    std::int64_t tenant = 0;
    jobs::WallTime due{};  // of its first job
  };

  // `limit` steps from there. False: there are no more.
  bool walk(Step& at, std::size_t limit, const std::function<void(const Step&)>& visit);
  Step step_of(const std::optional<jobs::Lane>& lane) const;
  static jobs::LeasedJob leased_job(const Rows& rows, const jobs::Lane& lane);

  // Jobs that have expired but were not swept: beyond so many, a claim gives what it has found.
  static constexpr std::size_t kMostExpired = 4096;

  SqliteLedger& ledger_;
  Statement next_lane_, claimable_, lease_, is_registered_;
  std::uint64_t bytes_ = 0;  // that claims have gone through
  Step seen_;                // by oldest_due()
  OldestDue oldest_, oldest_so_far_;
};

}  // namespace spillway::store
