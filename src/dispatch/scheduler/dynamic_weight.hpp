// Dynamic weight of the top class: multiplied by a boost that rises while the class's predicted
// wait exceeds the target and decays afterwards, so that the class gets nearly all turns when it
// could fill the upstream alone.
//
// With weights 8 : 3 : 1, P0 filling the upstream and the full boost of ten, P0 gets 95 % of the
// turns, P1 3.6 and P2 1.2. (With sixteen: 97, 2.3 and 0.8. bench/overload.)
//
// By weight alone no class starves (a guaranteed share, min_share.hpp, comes on top): the boost b
// is in [1, 10], so that class i of weight w_i gets at least the share
//     w_i / (10 w_0 + w_1 + ... + w_n)
// of the turns while it has waiters, whatever course b takes. For fair queueing: a service moves a
// class's tag by 1/weight, that of class 0 by 1/(b w_0) >= 1/(10 w_0). While virtual time advances
// by V, class 0 is served at most 10 w_0 V + 1 times, another class j at most w_j V + 1 times, and
// class i, whose tag is never more than 1/w_i ahead, at least w_i V - 1 times; as V grows, the ones
// become negligible. (Weighted and deficit round robin credit by the same weights, per turn and per
// millisecond of cost.)
#pragma once

#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class DynamicWeight {
 public:
  static constexpr double kMaxBoost = 10;
  static constexpr Milliseconds kDoubling{50};  // while the target is exceeded
  // While it is not. A hundred times as long: so the boost settles where the target is exceeded one
  // percent of the time, and the target is about the p99 of the wait. (At 6 times the capacity,
  // with 60 % of it for P0, its p99 is 63 ms, with strict priority 60; with ten times as long 67:
  // bench/overload.)
  static constexpr Milliseconds kHalving = 100 * kDoubling;
  static constexpr Milliseconds kStep{10};  // the boost changes no more often than this

  explicit DynamicWeight(Duration target_wait) : target_(target_wait) {}

  bool due(TimePoint now) const { return !updated_ || now >= *updated_ + kStep; }

  // `predicted` is the wait of the top class's last waiter, zero if none waits. Returns the boost,
  // in [1, 10]. After a pause it rises only as much as in a tenth of a second.
  double update(Duration predicted, TimePoint now);

 private:
  Duration target_;
  double boost_ = 1;
  std::optional<TimePoint> updated_;
};

}  // namespace spillway::dispatch
