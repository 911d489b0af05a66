// How often a server answers well, and whether it has not for longer than would be chance.
//
// Several failures in a row say nothing where others' requests are few in the same moment: five
// clients that ask for what fails do that together within a millisecond. A server that is broken
// answers no client. Where successes come independently of each other (a Poisson process) none
// comes for k mean gaps with probability exp(-k). Of many requests in a second they do not: where
// threads wait for a processor or a lock, successes come in clusters. So silence is a fifth of a
// second at least, which on its way to a broken server is no time.
//
// Fixed memory, one owner.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.hpp"

namespace spillway::resilience {

class SuccessPace {
 public:
  static constexpr double kSilence = 8;  // mean gaps: by chance once in 3000 times
  static constexpr double kLeast = 0.2;  // seconds

  // Longer gaps count as `longest`, and after it there is silence whatever the mean.
  explicit SuccessPace(Duration longest) : longest_(to_seconds(longest)) {}

  void add(TimePoint now) {
    if (last_) {
      const double gap = std::clamp(to_seconds(now - *last_), 0.0, longest_);
      gap_ = gap_ ? *gap_ + (gap - *gap_) * kWeight : gap;
    }
    last_ = now;
  }

  // A success after a pause that was not the server's; its gap does not count.
  void resume(TimePoint now) { last_ = now; }

  // Also before the first success.
  bool is_silent(TimePoint now) const {
    if (!last_ || !gap_) return true;
    return to_seconds(now - *last_) >= std::min(std::max(kSilence * *gap_, kLeast), longest_);
  }

 private:
  static constexpr double kWeight = 1.0 / 32;  // of one gap in the mean

  double longest_;
  std::optional<double> gap_;  // seconds, on average
  std::optional<TimePoint> last_;
};

}  // namespace spillway::resilience
