// aging: priority rises with waiting time. The next waiter of each class scores
// log2(egress weight) + log2(1 + wait / half life); the highest score is served.
//
// Bound: as long as no waiter of another class i has waited longer than W_i, a waiter of weight w
// has the highest score of all once it is the oldest of its class and has waited
//     half_life * (max_i (w_i / w) (1 + W_i / half_life) - 1).
// With half life 200 ms and W_0 = 100 ms, a class of weight 1 beside one of 8 waits for at most
// 2.2 s, however many requests of the other class arrive.
#include <algorithm>
#include <bit>
#include <cassert>

#include "dispatch/discipline/disciplines.hpp"

namespace spillway::dispatch {
namespace {

constexpr int kRounds = 6;        // of a prediction's iteration
constexpr double kLongest = 1e6;  // seconds, longer than any wait

class Aging final : public Discipline {
 public:
  Aging(const Weights& weights, std::size_t classes, Duration half_life)
      : Discipline(weights, classes), half_life_(to_seconds(half_life)) {
    assert(half_life_ > 0);
  }

  // The logarithm grows with its argument, so products have the same order as sums of logarithms.
  ClassId pick(ClassSet ready, const Queues& queues, TimePoint now) override {
    std::size_t best = 0;
    double most = -1;
    for (; ready != 0; ready &= ready - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(ready));
      const double waited = to_seconds(now - queues.foremost(i)->arrived);
      const double score = weights_[i] * (1 + waited / half_life_);
      if (score <= most) continue;
      most = score;
      best = i;
    }
    return static_cast<ClassId>(best);
  }

  // Counts the waiters of other classes that will have the higher score by then, assuming that the
  // waiters of a class arrived evenly between its oldest and its youngest.
  double turns(const Newcomer& newcomer, const Queues& queues) const override {
    const std::size_t mine = index(newcomer.traffic_class);
    const double own = newcomer.ahead + 1;
    double turns = own;
    const double seconds_per_turn = newcomer.hold / newcomer.slots;
    for (int round = 0; round < kRounds; ++round) {
      const double wait = turns * seconds_per_turn;
      const double score = weights_[mine] * (1 + wait / half_life_);
      double before = own, part = 0;
      for (std::size_t i = 0; i < classes_; ++i) {
        if (i == mine) continue;
        // A waiter of class i that has waited longer than this by then has the higher score.
        const double wins = half_life_ * (score / weights_[i] - 1);
        if (wins > wait) {
          if (queues.waiting()[i] == 0) continue;
          const TimePoint since = newcomer.now - from_seconds(std::min(wins - wait, kLongest));
          before += count_until(since, queues.waiting()[i], queues.oldest(i)->arrived,
                                queues.youngest(i)->arrived);
          continue;
        }
        before += queues.waiting()[i];
        if (wins <= 0) {  // all that arrive in the meantime
          part += recent_.part(i);
        } else {  // those that arrive in the first wait - wins = less * (wait + half life)
          const double less = 1 - weights_[mine] / weights_[i];
          part += recent_.part(i) * less;
          before += recent_.part(i) * less * half_life_ / seconds_per_turn;
        }
      }
      // The winners depend on the wait and the wait on the winners: iterate.
      const double found = RecentTurns::with_overtakers(before, part);
      turns = round == 0 ? found : (turns + found) / 2;
    }
    return turns;
  }

  // No: a boost would multiply the bound.
  bool shares_by_weight() const override { return false; }

 private:
  double half_life_;  // seconds
};

}  // namespace

std::unique_ptr<Discipline> make_aging(const Weights& weights, std::size_t classes,
                                       Duration half_life) {
  return std::make_unique<Aging>(weights, classes, half_life);
}

}  // namespace spillway::dispatch
