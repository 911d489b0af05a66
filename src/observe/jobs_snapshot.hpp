// The jobs of this proxy as metrics and /state show them.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "jobs/job.hpp"
#include "observe/job_counts.hpp"
#include "store/command.hpp"

namespace spillway::observe {

struct JobsSnapshot {
  const JobCounts* counts = nullptr;  // never null
  store::Totals totals;               // of the last look at the store
  jobs::WallTime now{};
  bool is_available = false;  // the store
  // Since the start.
  std::uint64_t commands = 0;
  Duration longest_commit{0};

  // How long the oldest job of the route could have been pulled; not those that wait for their
  // next attempt.
  double oldest_claimable_seconds(const store::Totals::Route& route) const {
    if (route.oldest_claimable == jobs::kNoTime || route.oldest_claimable > now) return 0;
    return to_seconds(now - route.oldest_claimable);
  }
  // Since the first of the dead and expired jobs was accepted.
  double oldest_letter_seconds() const {
    if (totals.oldest_letter == jobs::kNoTime || totals.oldest_letter > now) return 0;
    return to_seconds(now - totals.oldest_letter);
  }
};

}  // namespace spillway::observe
