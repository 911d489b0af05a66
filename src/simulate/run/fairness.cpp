#include "simulate/run/fairness.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "overload/control/fair_level.hpp"

namespace spillway::simulate {

double max_min_fairness(const std::vector<double>& demand, const std::vector<double>& got,
                        const std::vector<double>& weight) {
  const auto weight_of = [&](std::size_t i) { return weight.empty() ? 1 : weight[i]; };
  std::vector<overload::TenantDemand> rising;
  for (std::size_t i = 0; i < demand.size(); ++i)
    rising.push_back({.demand = demand[i], .weight = weight_of(i)});
  std::sort(rising.begin(), rising.end(),
            [](const auto& a, const auto& b) { return a.demand * b.weight < b.demand * a.weight; });
  const double level = overload::water_level(rising, std::accumulate(got.begin(), got.end(), 0.0));
  double sum = 0, squares = 0, sharers = 0;
  for (std::size_t i = 0; i < demand.size(); ++i) {
    const double fair = std::min(demand[i], level * weight_of(i));
    if (fair <= 0) continue;
    const double share = got[i] / fair;
    sum += share;
    squares += share * share;
    ++sharers;
  }
  return squares > 0 ? sum * sum / (sharers * squares) : 1;
}

}  // namespace spillway::simulate
