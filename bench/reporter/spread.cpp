#include "spread.hpp"

#include <algorithm>

namespace spillway::report {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {
      .median = median, .lowest = values.front(), .highest = values.back(), .count = values.size()};
}

}  // namespace spillway::report
