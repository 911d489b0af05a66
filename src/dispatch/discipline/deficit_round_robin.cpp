// drr: shares of the upstream's time by weight, not of the number of requests (deficit round robin:
// Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995), with
// a request's estimated milliseconds in place of a packet's length.
//
// The classes are visited in turn. A visit adds a quantum, weight / greatest weight milliseconds,
// to the class's deficit; its waiters are served while the deficit covers their cost, which is
// subtracted from it. A class loses the rest of its deficit when its last waiter has been served:
// an idle class earns no credit. A class whose waiters leave unserved keeps it, at most a request's
// cost and a quantum.
//
// The small quantum interleaves the turns of the classes; rounds in which it is not enough for any
// waiter are computed in one step.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

constexpr double kRounding = 1e-9;    // milliseconds
constexpr double kRecent = 1.0 / 64;  // weight of one request in a mean cost

class DeficitRoundRobin final : public Discipline {
 public:
  DeficitRoundRobin(const Weights& weights, std::size_t classes)
      : Discipline(weights, classes), visited_(classes - 1) {}

  // An expired waiter is picked at once and costs nothing: it will not be served.
  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override {
    for (ClassSet rest = ready; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      if (queues.next(static_cast<std::size_t>(i))->expires_at <= now)
        return static_cast<ClassId>(i);
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

  void served(const Waiter& waiter, const Queues& queues) override {
    double& deficit = deficits_[index(waiter.served_as)];
    deficit = queues.waiting(waiter.served_as) == 0 ? 0 : std::max(0.0, deficit - waiter.cost);
    passed(waiter);
  }

  void passed(const Waiter& waiter) override {
    recent_.record(waiter.served_as);
    double& mean = mean_costs_[index(waiter.served_as)];
    mean = mean == 0 ? waiter.cost : mean + (waiter.cost - mean) * kRecent;
  }

  // In turns of mean cost: the credit that each class gets until the newcomer's cost is covered.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
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

  bool shares_by_cost() const override { return true; }

 private:
  double greatest_weight() const {
    return *std::max_element(weights_.begin(), weights_.begin() + classes_);
  }

  double visits_needed(std::size_t i, double cost, double quantum) const {
    return std::max(1.0, std::ceil((cost - deficits_[i] - kRounding) / quantum));
  }

  Weights deficits_{};    // milliseconds
  Weights mean_costs_{};  // of each class's recent requests; 0: none yet
  std::size_t visited_;   // the class that is being visited
};

}  // namespace

std::unique_ptr<Discipline> make_deficit_round_robin(const Weights& weights, std::size_t classes) {
  return std::make_unique<DeficitRoundRobin>(weights, classes);
}

}  // namespace spillway::dispatch
