// aging: priority rises with waiting time. The next waiter of each class scores
// log2(egress weight) + log2(1 + wait / half life); the highest score is served.
//
// Bound: as long as no waiter of another class i has waited longer than W_i, one of weight w has
// the highest score of all once it is the oldest of its class and has waited
//     half_life * (max_i (w_i / w) (1 + W_i / half_life) - 1).
// With half life 200 ms and W_0 = 100 ms, a class of weight 1 beside one of 8 waits for at most
// 2.2 s, however many arrive above.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class Aging final : public Discipline {
 public:
  // half_life > 0.
  Aging(const Weights& weights, std::size_t classes, Duration half_life);

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // Counts the waiters of other classes that will have the higher score by then, assuming that
  // those of a class arrived evenly between its oldest and its youngest.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;

  // A boost would multiply the bound.
  bool shares_by_weight() const override { return false; }

 private:
  double half_life_;  // seconds
};

}  // namespace spillway::dispatch
