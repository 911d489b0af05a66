// What a proxy remembers about the database in order to query it less. These are only hints: each
// is refreshed after a while, and all but leases are forgotten after a failure.
//
// Watermarks: a lane's jobs are claimed in the order of their due times, so an index scan may begin
// at the last one claimed. Otherwise each claim would read all rows claimed before that a long
// transaction somewhere keeps from being vacuumed. A job that this proxy adds below the mark lowers
// it at once; one that another proxy adds (given back, unblocked in its order) is found by the next
// full scan, after 2 s, or 20 times the duration of the last full scan, at the latest.
//
// Recovered jobs: a claim may skip some of them (store::Claim). They are looked for in a lane with
// each full scan, as long as there are some, and after this proxy has given some back.
//
// Counts: how many jobs of a route wait, as of the last count, and this proxy's changes since.
// Other proxies' changes are seen by the next count, within a second (or 50 times its duration):
// until then max_pending may be exceeded by the jobs that they accept. Likewise a route's tenants:
// those with most waiting jobs are counted, others have only the jobs added since.
//
// Leases: since when each has had its current end. While the store cannot be reached, others may
// not reach it either, and need time to renew them: forget_leases().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "jobs/job.hpp"
#include "store/postgres/postgres_lease_watch.hpp"

namespace spillway::store {

class PostgresHints {
 public:
  struct Scan {
    jobs::WallTime from{};  // from this due time; kNoTime: a full scan
    bool is_full = true;
    bool tells = true;  // whether to report jobs skipped for their recoveries
  };
  // Where the scan begins.
  Scan scan(const jobs::Lane& lane, TimePoint now);
  // The due time of the last job that a scan has found.
  void claimed(const jobs::Lane& lane, jobs::WallTime last_due);
  // Jobs with this due time can now be claimed, in any lane.
  void appeared(jobs::WallTime due);
  // Whether a claim has skipped or found recovered jobs in the lane.
  void met_recovered(const jobs::Lane& lane, bool has_some);
  // A recovered job is waiting, in some lane.
  void recovered() { ++recoveries_; }
  void full_scan_took(Duration duration) { full_scan_ = duration; }

  // Whether the route's jobs must be counted before `more` jobs are accepted.
  bool needs_count(const std::string& route, std::uint64_t more, std::uint64_t most,
                   TimePoint now) const;
  void counted(const std::string& route, std::uint64_t waiting, TimePoint now, Duration took);
  void changed(const std::string& route, std::int64_t by);
  void changed(const jobs::Lane& lane, std::int64_t by);
  std::uint64_t waiting(const std::string& route) const;
  using Tenants = std::map<TenantId, std::int64_t>;
  bool needs_tenants(const std::string& route, TimePoint now) const;
  void counted(const std::string& route, Tenants tenants, TimePoint now, Duration took);
  std::uint64_t waiting_of(const jobs::Lane& lane) const;
  void forget_counts() {
    counts_.clear();
    tenants_.clear();
  }

  PostgresLeaseWatch& leases() { return leases_; }

  void forget();
  void forget_leases() { leases_ = {}; }

  static constexpr Duration kFullScanEvery = std::chrono::seconds{2};
  static constexpr Duration kCountEvery = std::chrono::seconds{1};
  static constexpr std::chrono::milliseconds kSlack{100};  // for clocks, and for commits
  static constexpr std::size_t kMostTenants = 1000;        // counted, of one route
  static constexpr std::size_t kMostLanes = 65536;
  static constexpr std::size_t kMostAppearances = 4096;  // with more, pairs are merged

 private:
  struct Mark {
    jobs::WallTime low{};
    TimePoint full_scan{};
    std::uint64_t seen = 0;  // appearances up to this number are included in `low`
    bool has_recovered = false;
    std::uint64_t recoveries = 0;  // recoveries up to this number have been reported
  };
  struct Appearance {
    std::uint64_t number = 0;
    jobs::WallTime due{};
  };
  struct Count {
    std::int64_t waiting = 0;
    TimePoint at{};
    Duration took{};
  };

  struct TenantCount {
    Tenants waiting;
    TimePoint at{};
    Duration took{};
  };

  jobs::WallTime first_appeared_since(std::uint64_t seen) const;

  std::map<jobs::Lane, Mark> marks_;
  // Appearances, except those followed by one that is due earlier: so numbers and due times both
  // rise, and the first one after a given number is the one that is due first.
  std::vector<Appearance> appeared_;
  std::uint64_t appearances_ = 0;
  std::uint64_t recoveries_ = 0;
  std::map<std::string, Count> counts_;
  std::map<std::string, TenantCount> tenants_;
  PostgresLeaseWatch leases_;
  Duration full_scan_{};
};

}  // namespace spillway::store
