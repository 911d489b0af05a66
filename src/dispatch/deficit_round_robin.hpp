// drr: shares by weight of the upstream's time, not of the number of requests (deficit round
// robin: Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM
// 1995), with a request's estimated milliseconds in the place of a packet's length.
//
// The classes are visited in turn. A visit adds a quantum, weight / greatest weight milliseconds,
// to the class's deficit; its oldest waiters are served while the deficit covers their cost,
// which is taken off it. A class whose last waiter was served loses what is left: idleness saves
// nothing up. One whose waiters leave unserved keeps it, at most a request's cost and a quantum.
//
// So small a quantum spreads the turns of a class between those of others, and would take many
// rounds for a dear request: rounds in which nobody is served are done at once.
#pragma once

#include "dispatch/discipline.hpp"

namespace spillway::dispatch {

class DeficitRoundRobin final : public Discipline {
 public:
  DeficitRoundRobin(const Weights& weights, std::size_t classes);

  // One that is out of time already is not weighed: it goes at once, for it will not be served.
  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;
  void passed(const Waiter& waiter) override;

  // In turns of mean cost: what each class may spend until the newcomer's cost is covered.
  double turns(const Place& place, const Queues& queues) const override;

 private:
  double greatest_weight() const;
  double visits_needed(std::size_t i, double cost, double quantum) const;

  Weights deficits_{};    // milliseconds
  Weights mean_costs_{};  // of each class's recent ones; 0: none yet
  std::size_t visited_;   // the class that is being visited
};

}  // namespace spillway::dispatch
