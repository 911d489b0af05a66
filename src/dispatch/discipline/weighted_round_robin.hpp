// wrr: turns by weight, interleaved smoothly (8:1 gives no bursts of eight).
//
// The idea is that of the smooth weighted round robin which NGINX uses between servers: at each
// turn every class that competes is credited its part of the turn, weight / sum of competing
// weights, and the one with most credit pays the whole turn. A class that
// does not compete keeps its credit and gains none.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class WeightedRoundRobin final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // Another class takes as many turns as its weight and credit allow.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;

 private:
  double sum_of_weights(ClassSet set) const;

  std::array<double, kMaxClasses> credits_{};  // in turns
  ClassSet competing_ = 0;                     // at the last pick
};

}  // namespace spillway::dispatch
