// Lanes and Claim on SQLite. Lanes are not stored: they are the steps of the index of claimable
// jobs, from each of which the next one is one search away.
#pragma once

#include <functional>

#include "store/sqlite_ledger.hpp"

namespace spillway::store {

class SqliteClaim {
 public:
  SqliteClaim(Database& database, SqliteLedger& ledger);

  void operator()(Lanes& command, jobs::WallTime now);
  void operator()(Claim& command, jobs::WallTime now);

  struct Step {
    std::uint8_t rank = 0;
    std::int64_t route = 0;
    TenantId tenant{};
    jobs::WallTime due{};  // of its first job
  };
  void each_lane(const std::function<void(const Step&)>& visit);

 private:
  // Jobs that have expired but were not swept: beyond so many, a claim gives what it has found.
  static constexpr std::size_t kMostExpired = 4096;

  SqliteLedger& ledger_;
  Statement next_lane_, claimable_, lease_, is_registered_;
};

}  // namespace spillway::store
