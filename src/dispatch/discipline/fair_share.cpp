// wfq: weighted fair queueing between classes by virtual finish times, one tag per class
// (start-time fair queueing: Goyal, Vin, Cheng, SIGCOMM 1996).
//
// A class's tag is the virtual time at which its last service finished: each service advances it by
// 1/weight. The class with the earliest tag is served; a tag in the past counts as the present, so
// an idle class earns no credit, and a class that has not been served for a while is next even if
// its waiters came and left in the meantime.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

// Restarting virtual time here leaves tags nine decimal places of precision.
constexpr double kRebaseAt = 1e6;

class FairShare final : public Discipline {
 public:
  using Discipline::Discipline;

  ClassId pick(ClassSet ready, const Queues&, TimePoint) override {
    std::size_t best = static_cast<std::size_t>(std::countr_zero(ready));
    for (ClassSet rest = ready & (ready - 1); rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (std::max(tags_[i], virtual_now_) < std::max(tags_[best], virtual_now_)) best = i;
    }
    return static_cast<ClassId>(best);
  }

  void served(const Waiter& waiter, const Queues&) override {
    recent_.record(waiter.served_as);
    double& tag = tags_[index(waiter.served_as)];
    virtual_now_ = std::max(virtual_now_, tag);
    tag = virtual_now_ + 1 / weight(waiter.served_as);
    if (virtual_now_ < kRebaseAt) return;
    for (double& t : tags_) t -= virtual_now_;
    virtual_now_ = 0;
  }

  // Another class takes as many turns as its weight allows, see RecentTurns::taken.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    const std::size_t mine = index(newcomer.traffic_class);
    const double tag = std::max(tags_[mine], virtual_now_) + newcomer.ahead / weights_[mine];
    std::array<double, kMaxClasses> allowed;
    for (std::size_t i = 0; i < classes_; ++i) {
      allowed[i] = 0;
      if (i == mine) continue;
      const double before = (tag - std::max(tags_[i], virtual_now_)) * weights_[i];
      if (before < 0) continue;
      const auto whole = static_cast<double>(static_cast<std::int64_t>(before));
      // With equal tags the higher class goes first.
      allowed[i] = (i < mine || whole < before) ? whole + 1 : whole;
    }
    return recent_.settle(newcomer.ahead + 1, allowed, queues.waiting());
  }

 private:
  Weights tags_{};
  double virtual_now_ = 0;
};

}  // namespace

std::unique_ptr<Discipline> make_fair_share(const Weights& weights, std::size_t classes) {
  return std::make_unique<FairShare>(weights, classes);
}

}  // namespace spillway::dispatch
