// wrr: turns by weight, interleaved smoothly (8:1 gives no bursts of eight).
//
// The idea is that of the smooth weighted round robin which NGINX uses between servers: at each
// turn every competing class is credited its share of the turn, weight / sum of competing weights,
// and the class with the most credit pays the whole turn. A class that does not compete keeps its
// credit and gains none.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

// Credits that differ by less are equal except for rounding.
constexpr double kTolerance = 1e-9;

class WeightedRoundRobin final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues&, TimePoint) override {
    competing_ = ready;
    const double sum = sum_of_weights(ready);
    std::size_t best = 0;
    double most = -INFINITY;
    for (; ready != 0; ready &= ready - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(ready));
      const double credit = credits_[i] + weights_[i] / sum;
      if (credit <= most + kTolerance) continue;
      most = credit;
      best = i;
    }
    return static_cast<ClassId>(best);
  }

  void served(const Waiter& waiter, const Queues&) override {
    recent_.record(waiter.served_as);
    const double sum = sum_of_weights(competing_);
    for (ClassSet rest = competing_; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      credits_[i] += weights_[i] / sum;
    }
    credits_[index(waiter.served_as)] -= 1;
  }

  // Another class takes as many turns as its weight and credit allow: a class with credit c has its
  // k-th turn near the moment (k - 1/2 - c) / weight, in units of turns per sum of weights.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    const std::size_t mine = index(newcomer.traffic_class);
    const double moment = (newcomer.ahead + 0.5 - credits_[mine]) / weights_[mine];
    std::array<double, kMaxClasses> allowed;
    for (std::size_t i = 0; i < classes_; ++i) {
      const double until = moment * weights_[i] + 0.5 + credits_[i];
      allowed[i] =
          i == mine ? 0 : std::max(0.0, i < mine ? std::floor(until) : std::ceil(until - 1));
    }
    return recent_.settle(newcomer.ahead + 1, allowed, queues.waiting());
  }

 private:
  double sum_of_weights(ClassSet set) const {
    double sum = 0;
    for (; set != 0; set &= set - 1)
      sum += weights_[static_cast<std::size_t>(std::countr_zero(set))];
    return sum;
  }

  std::array<double, kMaxClasses> credits_{};  // in turns
  ClassSet competing_ = 0;                     // at the last pick
};

}  // namespace

std::unique_ptr<Discipline> make_weighted_round_robin(const Weights& weights, std::size_t classes) {
  return std::make_unique<WeightedRoundRobin>(weights, classes);
}

}  // namespace spillway::dispatch
