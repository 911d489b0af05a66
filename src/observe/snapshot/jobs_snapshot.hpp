// The jobs of this proxy, copied for metrics and /state.
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
  store::Totals totals;               // of the last count in the store
  // At that time: routes from which no job has been pulled for a while, because their upstream's
  // circuit is open or nothing can be sent to it, or because they are not configured.
  std::set<std::string, std::less<>> paused;
  // Since the start, by route: jobs that were given back because they got no slot.
  std::map<std::string, std::uint64_t, std::less<>> without_slot;
  // This proxy's share of the routes' caps, at that time; a rate is in jobs per second.
  std::map<jobs::CapId, double> cap_shares;
  jobs::WallTime now{};
  bool is_available = false;  // the store is
  // Since the start.
  std::uint64_t commands = 0;
  Duration longest_commit{0};

  bool is_paused(const store::Totals::Route& route) const { return paused.contains(route.route); }
  // For how long the oldest job of the route could have been pulled; excludes jobs that wait for
  // their next attempt, and routes that are paused.
  double oldest_claimable_seconds(const store::Totals::Route& route) const {
    if (route.oldest_claimable == jobs::kNoTime || route.oldest_claimable > now) return 0;
    if (is_paused(route)) return 0;
    return to_seconds(now - route.oldest_claimable);
  }
  // The time since the first of the dead and expired jobs was accepted.
  double oldest_letter_seconds() const {
    if (totals.oldest_letter == jobs::kNoTime || totals.oldest_letter > now) return 0;
    return to_seconds(now - totals.oldest_letter);
  }
};

}  // namespace spillway::observe
