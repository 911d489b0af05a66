// What a proxy remembers of the database to ask it less. Hints only: every one of them is renewed
// after a while, and all but leases are forgotten after a failure.
//
// Watermarks: a lane's jobs are claimed in the order of their due times, so an index scan may begin
// at the last one claimed. Without that it reads, on each claim, all rows claimed before that a
// long transaction somewhere keeps from being vacuumed. What appears below the mark by this proxy's
// doing lowers it at once; what does by another's (given back, let on in its order) is found by the
// next full scan, 2 s later at most, or 20 times what the last one took.
//
// Jobs that were recovered: a claim may leave some of them (store::Claim). They are looked for in a
// lane with each full scan, as long as there are some, and after this proxy has given some back.
//
// Counts: how many jobs of a route wait, as last counted, and what this proxy has changed since.
// Other proxies' changes are seen by the next count, within a second (or 50 times what it takes),
// so max_pending may be exceeded by what the others accept in that time. So it is with the tenants
// of a route: those of which most jobs wait are counted, and of another one what was added since.
//
// Leases: since when each has had its end. Where the store was not reached, others may not have
// reached it either, and have time to renew them: forget_leases().
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
    jobs::WallTime from{};  // due times; kNoTime: a full scan
    bool is_full = true;
    bool tells = true;  // of jobs that are left for their recoveries
  };
  // Where to begin.
  Scan scan(const jobs::Lane& lane, TimePoint now);
  // The last job that a scan has found.
  void claimed(const jobs::Lane& lane, jobs::WallTime last_due);
  // Jobs can be claimed, of any lane, that are due then.
  void appeared(jobs::WallTime due);
  // A claim has left or found such jobs in the lane, or neither.
  void met_recovered(const jobs::Lane& lane, bool has_some);
  // A job that was recovered waits, in any lane.
  void recovered() { ++recoveries_; }
  void full_scan_took(Duration duration) { full_scan_ = duration; }

  // Whether the route is to be counted before `more` jobs are accepted.
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
  static constexpr std::chrono::milliseconds kSlack{100};  // of clocks, and of commits
  static constexpr std::size_t kMostTenants = 1000;        // that are counted, of a route
  static constexpr std::size_t kMostLanes = 65536;
  static constexpr std::size_t kMostAppearances = 4096;  // beyond, pairs of them are one

 private:
  struct Mark {
    jobs::WallTime low{};
    TimePoint full_scan{};
    std::uint64_t seen = 0;  // what has appeared up to here is in `low`
    bool has_recovered = false;
    std::uint64_t recoveries = 0;  // it has told of those up to here
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
  // What appeared, but for what was followed by something that is due earlier: so numbers and due
  // times both rise, and the first one after a number is the one that is due first.
  std::vector<Appearance> appeared_;
  std::uint64_t appearances_ = 0;
  std::uint64_t recoveries_ = 0;
  std::map<std::string, Count> counts_;
  std::map<std::string, TenantCount> tenants_;
  PostgresLeaseWatch leases_;
  Duration full_scan_{};
};

}  // namespace spillway::store
