#include "simulate/run/fairness.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "overload/control/fair_level.hpp"

namespace spillway::simulate {

double max_min_fairness(const std::vector<double>& demand, const std::vector<double>& got) {
  std::vector<overload::TenantDemand> rising;
  for (const double one : demand) rising.push_back({.demand = one});
  std::sort(rising.begin(), rising.end(),
            [](const auto& a, const auto& b) { return a.demand < b.demand; });
  const double level = overload::water_level(rising, std::accumulate(got.begin(), got.end(), 0.0));
  double sum = 0, squares = 0, sharers = 0;
  for (std::size_t i = 0; i < demand.size(); ++i) {
    const double fair = std::min(demand[i], level);
    if (fair <= 0) continue;
    const double share = got[i] / fair;
    sum += share;
    squares += share * share;
    ++sharers;
  }
  return squares > 0 ? sum * sum / (sharers * squares) : 1;
}

}  // namespace spillway::simulate
