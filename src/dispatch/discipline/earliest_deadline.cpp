// edf: among the next waiters of all classes, the one with the earliest deadline (earliest deadline
// first: Liu and Layland, JACM 1973). Serves the most requests in time while the upstream can serve
// all in time; waiters without a deadline come last. The deadlines are the operator's, of a route
// or class: a deadline sent by a client only ends that client's own wait.
#include <algorithm>
#include <bit>
#include <utility>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

TimePoint due(const Waiter* waiter) { return waiter->operators_deadline; }

class EarliestDeadline final : public Discipline {
 public:
  EarliestDeadline(const Weights& weights, std::size_t classes) : Discipline(weights, classes) {
    allowances_.fill(Duration::max());
  }

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint) override {
    std::size_t best = static_cast<std::size_t>(std::countr_zero(ready));
    for (ClassSet rest = ready & (ready - 1); rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (due(queues.foremost(i)) < due(queues.foremost(best))) best = i;
    }
    return static_cast<ClassId>(best);
  }

  void passed(const Waiter& waiter) override {
    recent_.record(waiter.served_as);
    allowances_[index(waiter.served_as)] = waiter.operators_deadline - waiter.arrived;
  }

  // Counts waiters with an earlier deadline, assuming that a class's deadlines lie evenly between
  // its oldest's and its youngest's, and later arrivals of classes whose requests have less time.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    const std::size_t mine = index(newcomer.traffic_class);
    Duration allowance = newcomer.deadline - newcomer.now;
    if (newcomer.deadline == kNever) allowance = allowance_of(mine, queues);
    // It is not served before the waiters of its own class.
    TimePoint deadline = allowance > kNever - newcomer.now ? kNever : newcomer.now + allowance;
    if (newcomer.ahead > 0 && queues.youngest(mine) != nullptr)
      deadline = std::max(deadline, due(queues.youngest(mine)));
    const double seconds_per_turn = newcomer.hold / newcomer.slots;
    double waiting = newcomer.ahead + 1;
    std::array<double, kMaxClasses> window;  // seconds in which arrivals of class i are due earlier
    for (std::size_t i = 0; i < classes_; ++i) {
      window[i] = i == mine ? 0 : to_seconds(deadline - newcomer.now - allowance_of(i, queues));
      if (i == mine || queues.waiting()[i] == 0) continue;
      waiting += count_until(deadline, queues.waiting()[i], due(queues.oldest(i)),
                             due(queues.youngest(i)));
    }
    // Arrivals count while the window is open or until the newcomer's turn: iterate from above.
    double turns = waiting;
    for (std::size_t round = 0; round <= classes_; ++round) {
      double before = waiting, part = 0;
      for (std::size_t i = 0; i < classes_; ++i) {
        if (window[i] <= 0) continue;
        if (window[i] < turns * seconds_per_turn)
          before += recent_.part(i) * window[i] / seconds_per_turn;
        else
          part += recent_.part(i);
      }
      const double last = std::exchange(turns, RecentTurns::with_overtakers(before, part));
      if (round > 0 && turns == last) break;
    }
    return turns;
  }

  bool shares_by_weight() const override { return false; }

 private:
  Duration allowance_of(std::size_t i, const Queues& queues) const {
    const Waiter* youngest = queues.youngest(i);
    return youngest == nullptr ? allowances_[i] : due(youngest) - youngest->arrived;
  }

  std::array<Duration, kMaxClasses> allowances_;  // from arrival to deadline, of the last served
};

}  // namespace

std::unique_ptr<Discipline> make_earliest_deadline(const Weights& weights, std::size_t classes) {
  return std::make_unique<EarliestDeadline>(weights, classes);
}

}  // namespace spillway::dispatch
