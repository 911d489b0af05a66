// Guaranteed shares of turns (`min_share`), above every discipline: a class with a waiter gets at
// least its share of the turns it competes for, whatever weights, boost, age or deadlines say.
//
// Each class has a balance. A turn for which it competes credits it min_share x the turn's cost;
// a turn of its own, whether by the discipline or guaranteed, debits the cost. Its next turn is
// guaranteed once the balance covers that turn's net debit. So of n turns for which it competes
// it gets at least min_share x n - 2, and from a balance of zero at least floor(min_share x n). A
// class that the discipline serves often enough is never due: the guarantee adds the missing
// turns and no more, and takes them from the classes in proportion to what the discipline gives
// them.
//
// Cost is 1 per turn, or a request's estimated milliseconds if the discipline shares those. A
// balance is kept in [-1, 2] turns of its class: no class saves up turns, or pays for long for
// turns it got while few competed. Without a waiter it stays as it is; it is also kept when waiters
// leave unserved, so that a class whose longest wait is shorter than 1 / min_share turns gets its
// share.
//
// A class competes where it may start: not at its max_inflight, and not for slots reserved for
// others. Turns without competition count for no class.
//
// The balances are those of a fluid server with a rate per class (Parekh and Gallager, "A
// generalized processor sharing approach to flow control", IEEE/ACM ToN 1993).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.hpp"
#include "config/config.hpp"
#include "dispatch/discipline/discipline.hpp"
#include "dispatch/queue/queues.hpp"

namespace spillway::dispatch {

class MinShares {
 public:
  // The sum of all min_share is below 1. `by_cost`: the discipline shares cost, not turns.
  MinShares(std::span<const config::TrafficClass> classes, bool by_cost);

  // The class in `ready` whose turn is guaranteed now, the longest overdue one; nullopt: the
  // discipline may choose. Charges no class.
  std::optional<ClassId> due(ClassSet ready, const Queues& queues) const;

  // `waiter` got a slot for which the classes of `ready` competed; it has left its queue.
  void served(const Waiter& waiter, ClassSet ready, const Queues& queues);

  // The turns until the newcomer's if the discipline alone would need `turns`: at most what its own
  // guaranteed share takes, and at least what the other classes' shares take.
  double turns(double turns, const Newcomer& newcomer, const Queues& queues) const;

 private:
  double cost_of(const Waiter& waiter) const { return by_cost_ ? waiter.cost : 1; }
  double missing(std::size_t i, double cost) const;

  Weights shares_{};
  Weights balances_{};
  ClassSet guaranteed_ = 0;  // the classes whose share is above 0
  std::size_t classes_;
  bool by_cost_;
  double mean_cost_ = 0;  // of recent turns of all classes; 0: none yet
};

}  // namespace spillway::dispatch
