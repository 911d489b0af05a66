// The middle of a few measurements and how far they lie apart.
#pragma once

#include <cstddef>
#include <vector>

namespace spillway::report {

struct Spread {
  double median = 0;  // of an even number, the mean of the middle two
  double lowest = 0;
  double highest = 0;
  std::size_t count = 0;  // 0: nothing was measured, and the rest means nothing
};

Spread spread_of(std::vector<double> values);

}  // namespace spillway::report
