// Jobs of one upstream that this proxy has in hand, and for which the store is being asked.
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
  // `rank`: of the route that was asked for.
  void answered(std::size_t asked, std::size_t pulled, std::uint8_t rank) {
    asked_ -= asked;
    in_hand_ += pulled;
    by_rank_[rank] += pulled;
  }
  // One has ended, or waits again.
  void ended(std::uint8_t rank) {
    --in_hand_;
    --by_rank_[rank];
  }
  bool is_empty() const { return in_hand_ == 0 && asked_ == 0; }

  // As a route with jobs of this rank finds it.
  jobs::RouteCapacity::Upstream seen_from(std::uint8_t rank, const Upstream& upstream) const {
    const JobsByRank& running = upstream.running_jobs;
    return {.state = upstream.overload_status.read().state,
            .in_hand = in_hand_,
            .running = running.all(),
            .passed = waiting_below(rank, running) + upstream.held_jobs.up_to(rank),
            .asked = asked_};
  }

 private:
  // Those that have no slot and a lower rank, also those that are held.
  std::size_t waiting_below(std::uint8_t rank, const JobsByRank& running) const {
    std::size_t in_hand = 0;
    for (auto one = by_rank_.upper_bound(rank); one != by_rank_.end(); ++one)
      in_hand += one->second;
    return in_hand - std::min(in_hand, running.below(rank));
  }

  std::size_t in_hand_ = 0;
  std::size_t asked_ = 0;
  std::map<std::uint8_t, std::size_t> by_rank_;  // of those in hand
};

}  // namespace spillway::proxy
