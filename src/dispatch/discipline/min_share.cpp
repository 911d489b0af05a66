#include "dispatch/discipline/min_share.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace spillway::dispatch {
namespace {

constexpr double kEqual = 1e-7;           // turns or milliseconds
constexpr double kMostSaved = 2;          // turns
constexpr double kMostOwed = 1;           // turns
constexpr double kMeanWeight = 1.0 / 64;  // weight of one turn in the mean cost

}  // namespace

MinShares::MinShares(std::span<const config::TrafficClass> classes, bool by_cost)
    : classes_(classes.size()), by_cost_(by_cost) {
  double sum = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    shares_[i] = classes[i].min_share.value_or(0);
    sum += shares_[i];
    if (shares_[i] > 0) guaranteed_ |= ClassSet{1} << i;
  }
  assert(sum < 1);
  // Classes with equal shares become due at the same turn: this way the last of them is not late.
  const int others = std::max(0, std::popcount(guaranteed_) - 1);
  for (std::size_t i = 0; i < classes_; ++i) balances_[i] = shares_[i] * others;
}

// The shortfall of class i's balance for a turn of `cost`. Its own turn credits it too.
double MinShares::missing(std::size_t i, double cost) const {
  return (1 - shares_[i]) * cost - balances_[i];
}

std::optional<ClassId> MinShares::due(ClassSet ready, const Queues& queues) const {
  std::optional<ClassId> first;
  double longest = 0;
  for (ClassSet rest = ready & guaranteed_; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    const double cost = cost_of(*queues.next(i));
    const double since = -missing(i, cost) / shares_[i];  // in turns or cost of all classes
    if (since < -kEqual || (first && since <= longest + kEqual)) continue;
    first = static_cast<ClassId>(i);
    longest = since;
  }
  return first;
}

void MinShares::served(const Waiter& waiter, ClassSet ready, const Queues& queues) {
  if (std::has_single_bit(ready)) return;
  const double cost = cost_of(waiter);
  mean_cost_ = mean_cost_ == 0 ? cost : mean_cost_ + (cost - mean_cost_) * kMeanWeight;
  const ClassId own = waiter.served_as;
  for (ClassSet rest = ready & guaranteed_ & ~set_of(own); rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    const double most = kMostSaved * cost_of(*queues.next(i));
    balances_[i] = std::min(balances_[i] + shares_[i] * cost, std::max(balances_[i], most));
  }
  double& balance = balances_[index(own)];
  const double after = balance - (1 - shares_[index(own)]) * cost;
  balance = std::max(after, std::min(balance, -kMostOwed * cost));
}

double MinShares::turns(double turns, const Newcomer& newcomer, const Queues& queues) const {
  if (guaranteed_ == 0) return turns;
  const std::size_t mine = index(newcomer.traffic_class);
  const double own = newcomer.ahead + 1;
  if (!by_cost_) {
    double others = 0;
    for (ClassSet rest = queues.backlogged() & guaranteed_ & ~set_of(newcomer.traffic_class);
         rest != 0; rest &= rest - 1)
      others += shares_[static_cast<std::size_t>(std::countr_zero(rest))];
    turns = std::max(turns, own / (1 - others));
  }
  if (shares_[mine] == 0) return turns;
  const double cost = by_cost_ ? newcomer.cost : 1;
  const double mean = by_cost_ && mean_cost_ > 0 ? mean_cost_ : cost;
  const double credit = std::max(0.0, own * cost - balances_[mine]) / shares_[mine];
  return std::min(turns, std::max(own, credit / mean));
}

}  // namespace spillway::dispatch
