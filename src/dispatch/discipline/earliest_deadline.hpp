// edf: of the next waiters of all classes, the one whose deadline is earliest (earliest
// deadline first: Liu and Layland, JACM 1973). Serves the most in time while the upstream can
// serve all in time; waiters without a deadline come last. The deadlines are the operator's, of
// route or class: one that a client sent only ends its own wait.
#pragma once

#include "dispatch/discipline/discipline.hpp"

namespace spillway::dispatch {

class EarliestDeadline final : public Discipline {
 public:
  EarliestDeadline(const Weights& weights, std::size_t classes);

  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override;
  void served(const Waiter& waiter, const Queues& queues) override;
  void passed(const Waiter& waiter) override;

  // Counts the waiters with an earlier deadline, assuming that those of a class lie evenly between
  // its oldest's and its youngest's, and later arrivals of classes whose requests have less time.
  double turns(const Newcomer& newcomer, const Queues& queues) const override;
  bool shares_by_weight() const override { return false; }

 private:
  Duration allowance_of(std::size_t i, const Queues& queues) const;

  std::array<Duration, kMaxClasses> allowances_;  // from arrival to deadline, of the last served
};

}  // namespace spillway::dispatch
