// rr: round robin, one waiter of each class in turn, whatever its weight.
#include <bit>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

class RoundRobin final : public Discipline {
 public:
  RoundRobin(const Weights& weights, std::size_t classes)
      : Discipline(weights, classes), last_(classes - 1) {}

  ClassId pick(ClassSet ready, const Queues&, TimePoint) override {
    const ClassSet after = ready & ~((ClassSet{2} << last_) - 1);
    return static_cast<ClassId>(std::countr_zero(after != 0 ? after : ready));
  }

  void served(const Waiter& waiter, const Queues&) override {
    last_ = index(waiter.served_as);
    recent_.record(waiter.served_as);
  }

  // Another class takes one turn for each of the newcomer's class.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    const std::size_t mine = index(newcomer.traffic_class);
    const auto distance = [&](std::size_t i) { return (i + classes_ - last_ - 1) % classes_; };
    std::array<double, kMaxClasses> allowed;
    for (std::size_t i = 0; i < classes_; ++i)
      allowed[i] = i == mine ? 0 : newcomer.ahead + (distance(i) < distance(mine) ? 1 : 0);
    return recent_.settle(newcomer.ahead + 1, allowed, queues.waiting());
  }

  bool shares_by_weight() const override { return false; }

 private:
  std::size_t last_;  // the class served last
};

}  // namespace

std::unique_ptr<Discipline> make_round_robin(const Weights& weights, std::size_t classes) {
  return std::make_unique<RoundRobin>(weights, classes);
}

}  // namespace spillway::dispatch
