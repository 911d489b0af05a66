// pq: strict priority, the highest class with a waiter. While the higher classes fill the upstream
// the others starve, except for their guaranteed shares (min_share.hpp).
#include <bit>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

class StrictPriority final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues&, TimePoint) override {
    return static_cast<ClassId>(std::countr_zero(ready));
  }

  // Counts all waiters of higher classes, and those that will arrive before its turn.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    double before = newcomer.ahead + 1, part = 0;
    for (std::size_t i = 0; i < index(newcomer.traffic_class); ++i) {
      before += queues.waiting()[i];
      part += recent_.part(i);
    }
    return RecentTurns::with_overtakers(before, part);
  }

  bool shares_by_weight() const override { return false; }
};

}  // namespace

std::unique_ptr<Discipline> make_strict_priority(const Weights& weights, std::size_t classes) {
  return std::make_unique<StrictPriority>(weights, classes);
}

}  // namespace spillway::dispatch
