// pq: strict priority, the highest class that has a waiter. While the higher ones fill the upstream
// the others starve, but for their guaranteed shares (min_share.hpp).
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class StrictPriority final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // Counts all waiters of higher classes, and those that arrive until then.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;
  bool shares_by_weight() const override { return false; }
};

}  // namespace spillway::dispatch
