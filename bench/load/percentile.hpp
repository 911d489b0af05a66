// Percentiles of a list of measured times, by nearest rank: always a value that was measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/time.hpp"

namespace spillway::load {

// The smallest sample that at least `share` of all samples do not exceed, `share` in (0, 1];
// zero when there is no sample. Takes a copy because it reorders.
inline Duration percentile(std::vector<Duration> samples, double share) {
  if (samples.empty()) return Duration::zero();
  const double rank = std::ceil(share * static_cast<double>(samples.size()));
  const auto position = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  const auto nth =
      samples.begin() + std::min(position, static_cast<std::ptrdiff_t>(samples.size()) - 1);
  std::nth_element(samples.begin(), nth, samples.end());
  return *nth;
}

}  // namespace spillway::load
