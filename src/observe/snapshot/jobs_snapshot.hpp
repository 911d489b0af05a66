// The jobs of this proxy as metrics and /state show them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/time.hpp"
#include "jobs/cap_shares.hpp"
#include "jobs/job.hpp"
#include "observe/count/job_counts.hpp"
#include "store/contract/command.hpp"

namespace spillway::observe {

struct JobsSnapshot {
  const JobCounts* counts = nullptr;  // never null
  store::Totals totals;               // of the last look at the store
  // At that time: the routes of which no job was pulled for a while, since their upstream's circuit
  // is open or nothing can be sent to it, or which are not configured.
  std::set<std::string, std::less<>> paused;
  // Since the start, by route: jobs that were given back since they got no slot.
  std::map<std::string, std::uint64_t, std::less<>> without_slot;
  // What this proxy may use of the routes' caps, at that time; of a rate in jobs per second.
  std::map<jobs::CapId, double> cap_shares;
  jobs::WallTime now{};
  bool is_available = false;  // the store
  // Since the start.
  std::uint64_t commands = 0;
  Duration longest_commit{0};

  bool is_paused(const store::Totals::Route& route) const { return paused.contains(route.route); }
  // How long the oldest job of the route could have been pulled; not those that wait for their
  // next attempt, nor for a route that is paused.
  double oldest_claimable_seconds(const store::Totals::Route& route) const {
    if (route.oldest_claimable == jobs::kNoTime || route.oldest_claimable > now) return 0;
    if (is_paused(route)) return 0;
    return to_seconds(now - route.oldest_claimable);
  }
  // Since the first of the dead and expired jobs was accepted.
  double oldest_letter_seconds() const {
    if (totals.oldest_letter == jobs::kNoTime || totals.oldest_letter > now) return 0;
    return to_seconds(now - totals.oldest_letter);
  }
};

}  // namespace spillway::observe
