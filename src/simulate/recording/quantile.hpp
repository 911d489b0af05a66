// Quantiles of a simulation's measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spillway::simulate {

// The smallest value that at least a share q of them do not exceed; zero if there are none.
// Reorders them.
inline double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(q * static_cast<double>(values.size())));
  const auto at = values.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace spillway::simulate
