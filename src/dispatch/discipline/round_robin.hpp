// rr: round robin, one waiter of each class in turn, whatever its weight.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class RoundRobin final : public Discipline {
 public:
  RoundRobin(const Weights& weights, std::size_t classes)
      : Discipline(weights, classes), last_(classes - 1) {}

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // Another class takes one turn for each of the newcomer's class.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;
  bool shares_by_weight() const override { return false; }

 private:
  std::size_t last_;  // served
};

}  // namespace spillway::dispatch
