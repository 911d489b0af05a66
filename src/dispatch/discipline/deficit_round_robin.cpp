#include "dispatch/discipline/deficit_round_robin.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace spillway::dispatch {
namespace {

constexpr double kRounding = 1e-9;    // milliseconds
constexpr double kRecent = 1.0 / 64;  // weight of one request in a mean cost

}  // namespace

DeficitRoundRobin::DeficitRoundRobin(const Weights& weights, std::size_t classes)
    : Discipline(weights, classes), visited_(classes - 1) {}

double DeficitRoundRobin::greatest_weight() const {
  return *std::max_element(weights_.begin(), weights_.begin() + classes_);
}

double DeficitRoundRobin::visits_needed(std::size_t i, double cost, double quantum) const {
  return std::max(1.0, std::ceil((cost - deficits_[i] - kRounding) / quantum));
}

ClassId DeficitRoundRobin::pick(ClassSet ready, const Queues& queues, TimePoint now) {
  for (ClassSet rest = ready; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    if (queues.next(static_cast<std::size_t>(i))->expires_at <= now) return static_cast<ClassId>(i);
  }
  const auto visited = static_cast<ClassId>(visited_);
  if ((ready & set_of(visited)) != 0 &&
      deficits_[visited_] + kRounding >= queues.next(visited_)->cost)
    return visited;

  const double greatest = greatest_weight();
  std::size_t next = visited_;
  double visits = INFINITY;
  const auto following = [this](std::size_t i) { return i + 1 < classes_ ? i + 1 : 0; };
  std::size_t i = visited_;
  do {
    i = following(i);
    if ((ready >> i & 1) == 0) continue;
    const double needed = visits_needed(i, queues.next(i)->cost, weights_[i] / greatest);
    if (needed >= visits) continue;
    visits = needed;
    next = i;
  } while (i != visited_);
  // The classes up to `next` were visited once more than those after it.
  bool reached = false;
  do {
    i = following(i);
    if ((ready >> i & 1) != 0)
      deficits_[i] += (reached ? visits - 1 : visits) * weights_[i] / greatest;
    reached = reached || i == next;
  } while (i != visited_);
  visited_ = next;
  return static_cast<ClassId>(next);
}

void DeficitRoundRobin::served(const Waiter& waiter, const Queues& queues) {
  double& deficit = deficits_[index(waiter.served_as)];
  deficit = queues.waiting(waiter.served_as) == 0 ? 0 : std::max(0.0, deficit - waiter.cost);
  passed(waiter);
}

void DeficitRoundRobin::passed(const Waiter& waiter) {
  recent_.record(waiter.served_as);
  double& mean = mean_costs_[index(waiter.served_as)];
  mean = mean == 0 ? waiter.cost : mean + (waiter.cost - mean) * kRecent;
}

double DeficitRoundRobin::turns(const Newcomer& newcomer, const Queues& queues) const {
  const std::size_t mine = index(newcomer.traffic_class);
  const double greatest = greatest_weight();
  const auto cost_of = [&](std::size_t i) {
    return mean_costs_[i] > 0 ? mean_costs_[i] : newcomer.cost;
  };
  const auto distance = [&](std::size_t i) { return (i + classes_ - visited_ - 1) % classes_; };
  const double own_cost = newcomer.cost + newcomer.ahead * cost_of(mine);
  const double visits = visits_needed(mine, own_cost, weights_[mine] / greatest);
  std::array<double, kMaxClasses> allowed{};
  double part = 0, mean = 0;
  for (std::size_t i = 0; i < classes_; ++i) {
    part += recent_.part(i);
    mean += recent_.part(i) * cost_of(i);
    if (i == mine) continue;
    const double visited = distance(i) < distance(mine) ? visits : visits - 1;
    allowed[i] =
        std::floor((deficits_[i] + visited * weights_[i] / greatest + kRounding) / cost_of(i));
  }
  const double turns = recent_.settle(newcomer.ahead + 1, allowed, queues.waiting());
  if (part == 0) return turns;
  double cost = own_cost;
  for (std::size_t i = 0; i < classes_; ++i)
    cost += recent_.taken(i, allowed[i], queues.waiting()[i], turns) * cost_of(i);
  return cost * part / mean;
}

}  // namespace spillway::dispatch
