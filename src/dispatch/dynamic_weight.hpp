// The top class's weight rises while its predicted wait exceeds the target and decays after,
// so that it keeps nearly everything when it alone fills the upstream. Bounded by x 16: the
// others always keep a share.
#pragma once

#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class DynamicWeight {
 public:
  static constexpr double kMaxBoost = 16;
  static constexpr Milliseconds kDoubling{50};  // while exceeded
  static constexpr Milliseconds kHalving{500};  // otherwise
  static constexpr Milliseconds kStep{10};      // the boost changes no more often than this

  explicit DynamicWeight(Duration target_wait) : target_(target_wait) {}

  bool due(TimePoint now) const { return !updated_ || now >= *updated_ + kStep; }

  // `predicted` is the wait of the top class's last waiter, zero when none waits. Returns the
  // boost, in [1, 16]. After a pause it rises by no more than for a tenth of a second.
  double update(Duration predicted, TimePoint now);

  double boost() const { return boost_; }

 private:
  Duration target_;
  double boost_ = 1;
  std::optional<TimePoint> updated_;
};

}  // namespace spillway::dispatch
