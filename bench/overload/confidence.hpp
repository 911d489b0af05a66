// How far off a figure may be that was counted once, at 95 % confidence.
#pragma once

#include <cmath>
#include <cstdint>

namespace spillway::bench {

// Half the width of the interval for a share of which `part` of `all` were seen (E. B. Wilson,
// "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927); 1 of nothing.
inline double share_error(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return 1;
  constexpr double z = 1.96;
  const auto n = static_cast<double>(all);
  const double p = static_cast<double>(part) / n;
  return z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
}

// Relative to a rate that `count` events were counted for, as if they came by chance; 1 of none.
inline double rate_error(std::uint64_t count) {
  return count == 0 ? 1 : 1.96 / std::sqrt(static_cast<double>(count));
}

}  // namespace spillway::bench
