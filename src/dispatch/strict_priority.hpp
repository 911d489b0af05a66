// pq: the highest class that has a waiter. For what must never wait behind anything else; the
// others starve while the higher ones fill the upstream.
#pragma once

#include "dispatch/discipline.hpp"

namespace spillway::dispatch {

class StrictPriority final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;

  // All that wait above it, and what arrives above until then.
  double turns(const Place& place, const Queues& queues) const override;
  bool shares_by_weight() const override { return false; }
};

}  // namespace spillway::dispatch
