// How often a server answers well, and whether it has failed to for longer than chance explains.
//
// Several failures in a row are no evidence if there are few other requests at the same moment:
// five clients that ask for something that fails do so together within a millisecond. A broken
// server answers no client. If successes come independently of each other (a Poisson process), a
// gap of k mean gaps has probability exp(-k). With many requests a second they do not: where
// threads wait for a processor or a lock, successes come in clusters. So a silence is at least a
// fifth of a second, a negligible delay in noticing a broken server.
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

  // Longer gaps count as `longest`; after that time it is silent whatever the mean.
  explicit SuccessPace(Duration longest) : longest_(to_seconds(longest)) {}

  void add(TimePoint now) {
    if (last_) {
      const double gap = std::clamp(to_seconds(now - *last_), 0.0, longest_);
      gap_ = gap_ ? *gap_ + (gap - *gap_) * kWeight : gap;
    }
    last_ = now;
  }

  // A success after a pause not caused by the server; the gap does not count.
  void resume(TimePoint now) { last_ = now; }

  // True also before the first success.
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
