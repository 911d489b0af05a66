// drr: shares by weight of the upstream's time, not of the number of requests (deficit round
// robin: Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM
// 1995), with a request's estimated milliseconds for a packet's length.
//
// The classes are visited in turn. A visit adds a quantum, weight / greatest weight milliseconds,
// to the class's deficit; its waiters are served while the deficit covers their cost,
// which is taken off it. A class whose last waiter was served loses the rest of its deficit: an
// idle class earns no credit. One whose waiters leave unserved keeps it, at most a request's cost
// and a quantum.
//
// The small quantum interleaves the turns of the classes; rounds in which it does not suffice for
// any waiter are computed in one step.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class DeficitRoundRobin final : public Discipline {
 public:
  DeficitRoundRobin(const Weights& weights, std::size_t classes);

  // A waiter that has expired already is picked at once and costs nothing: it will not be served.
  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;
  void passed(const Waiter& waiter) override;

  // In turns of mean cost: the credit of each class until the newcomer's cost is covered.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;
  bool shares_by_cost() const override { return true; }

 private:
  double greatest_weight() const;
  double visits_needed(std::size_t i, double cost, double quantum) const;

  Weights deficits_{};    // milliseconds
  Weights mean_costs_{};  // of each class's recent ones; 0: none yet
  std::size_t visited_;   // the class that is being visited
};

}  // namespace spillway::dispatch
