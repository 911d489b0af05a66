// Each class's share of the recent turns, and from it the number of turns before a newcomer's.
//
// A class's share shows how often it arrives as long as it is served: a class that hardly ever has
// a waiter does not count as backlogged, nor does one with many arrivals count as idle because it
// happens to have no waiter now. The memory is 64 turns (exponentially weighted).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/ids.hpp"
#include "dispatch/queue/queues.hpp"

namespace spillway::dispatch {

class RecentTurns {
 public:
  explicit RecentTurns(std::size_t classes) : classes_(classes) {}

  // `id` got a slot.
  void record(ClassId id) {
    // The unit grows, so that the other counters need not decay.
    unit_ *= 1 / (1 - kRecent);
    in_parts_ *= 1 - kRecent;
    turns_[index(id)] += kRecent * unit_;
    if (unit_ < kGreatestUnit) return;
    for (double& turns : turns_) turns *= in_parts_;
    unit_ = in_parts_ = 1;
  }

  double part(std::size_t i) const { return turns_[i] * in_parts_; }

  // Turns that class i takes among `turns` of all: as many as the discipline allows, but no more
  // than it has waiters now or, if more, than its recent share.
  double taken(std::size_t i, double allowed, double waiting, double turns) const {
    return std::min(allowed, std::max(waiting, part(i) * turns));
  }

  // `own` turns of the newcomer's class plus those taken by each other class, which may take up to
  // `allowed` (the newcomer's own entry is 0).
  double settle(double own, const std::array<double, kMaxClasses>& allowed,
                const WaitingCounts& waiting) const {
    double turns = own;
    for (std::size_t i = 0; i < classes_; ++i) turns += allowed[i];
    // The total depends on the other classes' turns and these on the total: iterate from above; in
    // each round the classes that take their recent share (rather than all that is allowed, or just
    // their waiters) grow in proportion.
    for (int round = 0; round < kRounds; ++round) {
      double fixed = own, parts = 0;
      for (std::size_t i = 0; i < classes_; ++i) {
        const double most = taken(i, allowed[i], waiting[i], turns);
        const bool grows = most < allowed[i] && most > waiting[i];
        parts += grows ? part(i) : 0;
        fixed += grows ? 0 : most;
      }
      const double last = turns;
      turns = parts > 0 ? with_overtakers(fixed, parts) : fixed;
      if (std::abs(last - turns) < kCloseEnough) break;
    }
    return turns;
  }

  // `turns` plus the turns of requests that arrive meanwhile and go first, which are `part` of all
  // turns: turns / (1 - part), at most 64-fold.
  static double with_overtakers(double turns, double part) {
    return turns / std::max(1 - part, kRecent);
  }

 private:
  static constexpr double kRecent = 1.0 / 64;  // weight of one turn
  static constexpr double kGreatestUnit = 1e100;
  static constexpr int kRounds = 5;
  static constexpr double kCloseEnough = 0.25;  // turns

  std::size_t classes_;
  std::array<double, kMaxClasses> turns_{};  // in units
  double unit_ = 1;
  double in_parts_ = 1;  // 1 / unit_
};

}  // namespace spillway::dispatch
