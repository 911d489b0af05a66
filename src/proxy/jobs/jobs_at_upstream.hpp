// An upstream's jobs that this proxy has in hand, or that it is asking the store for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "jobs/route_capacity.hpp"
#include "proxy/upstream/upstream.hpp"

namespace spillway::proxy {

class JobsAtUpstream {
 public:
  void ask(std::size_t jobs) { asked_ += jobs; }
  // `rank`: of the route whose jobs were asked for.
  void answered(std::size_t asked, std::size_t pulled, std::uint8_t rank) {
    asked_ -= asked;
    in_hand_ += pulled;
    by_rank_[rank] += pulled;
  }
  // A job has ended, or waits again.
  void ended(std::uint8_t rank) {
    --in_hand_;
    --by_rank_[rank];
  }
  bool is_empty() const { return in_hand_ == 0 && asked_ == 0; }

  // The upstream as seen by a route with jobs of this rank.
  jobs::RouteCapacity::Upstream seen_from(std::uint8_t rank, const Upstream& upstream) const {
    const JobsByRank& running = upstream.running_jobs;
    return {.state = upstream.overload_status.read().state,
            .in_hand = in_hand_,
            .running = running.all(),
            .passed = waiting_below(rank, running) + upstream.held_jobs.up_to(rank),
            .asked = asked_};
  }

 private:
  // Jobs of lower ranks that have no slot, including those that are held.
  std::size_t waiting_below(std::uint8_t rank, const JobsByRank& running) const {
    std::size_t in_hand = 0;
    for (auto one = by_rank_.upper_bound(rank); one != by_rank_.end(); ++one)
      in_hand += one->second;
    return in_hand - std::min(in_hand, running.below(rank));
  }

  std::size_t in_hand_ = 0;
  std::size_t asked_ = 0;
  std::map<std::uint8_t, std::size_t> by_rank_;  // jobs in hand
};

}  // namespace spillway::proxy
