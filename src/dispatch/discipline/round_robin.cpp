#include "dispatch/discipline/round_robin.hpp"

#include <bit>

namespace spillway::dispatch {

ClassId RoundRobin::pick(ClassSet ready, const Queues&, TimePoint) {
  const ClassSet after = ready & ~((ClassSet{2} << last_) - 1);
  return static_cast<ClassId>(std::countr_zero(after != 0 ? after : ready));
}

void RoundRobin::served(const Waiter& waiter, const Queues&) {
  last_ = index(waiter.served_as);
  recent_.record(waiter.served_as);
}

double RoundRobin::turns(const Newcomer& newcomer, const Queues& queues) const {
  const std::size_t mine = index(newcomer.traffic_class);
  const auto distance = [&](std::size_t i) { return (i + classes_ - last_ - 1) % classes_; };
  std::array<double, kMaxClasses> allowed;
  for (std::size_t i = 0; i < classes_; ++i)
    allowed[i] = i == mine ? 0 : newcomer.ahead + (distance(i) < distance(mine) ? 1 : 0);
  return recent_.settle(newcomer.ahead + 1, allowed, queues.waiting());
}

}  // namespace spillway::dispatch
