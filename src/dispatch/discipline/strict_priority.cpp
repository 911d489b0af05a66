#include "dispatch/discipline/strict_priority.hpp"

#include <bit>

namespace spillway::dispatch {

ClassId StrictPriority::pick(ClassSet ready, const Queues&, TimePoint) {
  return static_cast<ClassId>(std::countr_zero(ready));
}

void StrictPriority::served(const Waiter& waiter, const Queues&) {
  recent_.record(waiter.served_as);
}

double StrictPriority::turns(const Newcomer& newcomer, const Queues& queues) const {
  double before = newcomer.ahead + 1, part = 0;
  for (std::size_t i = 0; i < index(newcomer.traffic_class); ++i) {
    before += queues.waiting()[i];
    part += recent_.part(i);
  }
  return RecentTurns::with_overtakers(before, part);
}

}  // namespace spillway::dispatch
