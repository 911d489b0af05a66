// wfq: weighted fair queueing between classes by virtual finish times, one tag per class
// (start-time fair queueing: Goyal, Vin, Cheng, SIGCOMM 1996).
//
// A class's tag is the virtual time at which its last service finished: each service advances
// it by 1/weight. The class with the earliest tag is served; a tag in the past counts as the
// present, so an idle class earns no credit, and a class that was not served for a while is next
// even if its waiters came and went meanwhile.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class FairShare final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // Another class takes the turns that its weight allows, see RecentTurns::taken.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;

 private:
  Weights tags_{};
  double virtual_now_ = 0;
};

}  // namespace spillway::dispatch
