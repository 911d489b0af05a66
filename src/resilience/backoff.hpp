// Exponential backoff with bounded jitter: the delay before attempt n + 1 of an operation that has
// failed n times. Jitter keeps clients that failed together from retrying in phase.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"

namespace spillway::resilience {

struct Backoff {
  Duration base = std::chrono::seconds(1);  // before jitter, after the first failure
  Duration cap = std::chrono::seconds(60);  // before jitter; a smaller cap than base wins
  double jitter = 0.1;                      // a share of the delay, either way; clamped to [0, 1]

  // After failure `attempt` (1 for the first; 0 counts as 1): d = min(cap, base * 2^(attempt - 1)),
  // spread evenly over [d - jitter * d, d + jitter * d]. Jitter is added after the cap, so that
  // clients at the cap stay spread out; the longest delay is cap * (1 + jitter). Never negative; no
  // attempt number overflows. Draws one number from `random`.
  Duration delay(std::uint32_t attempt, Random& random) const {
    const double spread = 2 * random.uniform() - 1;
    const int doublings = static_cast<int>(std::clamp(attempt, 1u, kEnough) - 1);
    const double longest = static_cast<double>(std::max(cap, Duration::zero()).count());
    const double first = static_cast<double>(std::max(base, Duration::zero()).count());
    const double plain = std::min(std::ldexp(first, doublings), longest);
    const double share = jitter > 0 ? std::min(jitter, 1.0) : 0.0;  // NaN: none
    const double jittered = plain + plain * share * spread;
    constexpr double kLimit = 0x1.0p63;  // Duration::max() itself cannot be represented as a double
    return jittered < kLimit ? Duration(static_cast<Duration::rep>(jittered)) : Duration::max();
  }

 private:
  static constexpr std::uint32_t kEnough = 65;  // 1 ns doubled this many times exceeds any Duration
};

}  // namespace spillway::resilience
