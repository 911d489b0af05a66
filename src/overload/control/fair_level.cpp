#include "overload/control/fair_level.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "overload/signals/signals.hpp"

namespace spillway::overload {
namespace {

// Decayed count of a tenant that has sent one request in the last two seconds or so.
constexpr double kPresent = 0.25;
// A tenant may exceed an equal share by this factor and by random fluctuation (by_chance).
constexpr double kTolerance = 1.1;

// Three standard deviations of a Poisson count that decays exponentially (its variance is half
// its mean).
double by_chance(double mean) { return 3 * std::sqrt(mean / 2); }

// `known` are the tracked tenants. The rest of the demand is served first, since each tenant in it
// is small. But new tenant names may be cheap: a client that sends a new one with each request is
// part of the rest and could take everything. So the level never falls below half of what the known
// would have in a split in proportion to demand, nor below a sixteenth of the service (times the
// rest's share of the demand).
double level_of(std::span<const TenantDemand> known, const ClassLoad& load) {
  double demand = 0;
  for (const TenantDemand& one : known) demand += one.demand;
  const double rest = std::max(load.offered - demand, 0.0);
  const double in_proportion = water_level(known, load.service * demand / load.offered);
  const double sixteenth = load.service / 16 * rest / load.offered;
  return std::max({water_level(known, load.service - rest), in_proportion / 2, sixteenth});
}

// The probability p, common to all tenants, such that in total a share `probability` of the offered
// requests is refused if each tenant is refused by the larger of its cut and p.
double remaining_probability(std::span<const Excess> cuts, std::span<const TenantDemand> demands,
                             double offered, double probability) {
  double others = offered;
  double to_refuse = probability * offered;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    others -= demands[i].demand;
    to_refuse -= demands[i].demand * cuts[i].chance;
  }
  const auto left = [&] {
    if (to_refuse <= 0) return 0.0;
    return others > 0 ? std::min(to_refuse / others, probability) : probability;
  };
  // By rising demand / weight and thus by rising chance: the first tenants may have a cut below p.
  for (std::size_t i = 0; i < cuts.size() && cuts[i].chance < left(); ++i) {
    others += demands[i].demand;
    to_refuse += demands[i].demand * cuts[i].chance;
  }
  return left();
}

}  // namespace

double water_level(std::span<const TenantDemand> demands, double service) {
  double remaining = std::max(service, 0.0);
  double weights = 0;
  for (const TenantDemand& one : demands) weights += one.weight;
  for (const TenantDemand& one : demands) {
    const double equal = remaining / weights;
    if (one.demand >= equal * one.weight) return equal;
    remaining -= one.demand;
    weights -= one.weight;
  }
  return std::numeric_limits<double>::infinity();
}

ClassExcess tenants_above(ClassLoad load, double probability) {
  if (load.offered < double(kEnoughSamples) || load.service >= load.offered) return {};
  double present = 0;  // weights of the tenants that are present
  std::size_t count = 0;
  for (const TenantDemand& one : load.tenants) {
    if (one.demand < kPresent) continue;
    present += one.weight;
    ++count;
  }
  // For a single tenant the equal share is everything, so it is never above it.
  if (count < 2) return {};
  const auto known_end =
      std::partition(load.tenants.begin(), load.tenants.end(),
                     [](const auto& one) { return one.demand >= std::max(kPresent, one.error); });
  std::sort(load.tenants.begin(), known_end,
            [](const auto& a, const auto& b) { return a.demand * b.weight < b.demand * a.weight; });
  const std::span<const TenantDemand> known(load.tenants.begin(), known_end);

  const double level = level_of(known, load);
  const auto is_above = [&](const TenantDemand& one) {
    const double equal = load.offered / present * one.weight;
    return one.demand > std::max(level * one.weight, kTolerance * equal + by_chance(equal));
  };
  const auto above = std::remove_if(load.tenants.begin(), known_end, std::not_fn(is_above));
  const std::span<const TenantDemand> demands(load.tenants.begin(), above);
  if (demands.empty()) return {};

  std::vector<Excess> cuts;
  cuts.reserve(demands.size());
  for (const TenantDemand& one : demands)
    cuts.push_back({one.tenant, 1 - level * one.weight / one.demand});
  if (probability <= 0) return {cuts, 1};
  // For a capacity reason a rule refuses at most the demand that exceeds the service.
  const double to_refuse = std::min(probability, 1 - load.service / load.offered);
  return {cuts, remaining_probability(cuts, demands, load.offered, to_refuse) / probability};
}

}  // namespace spillway::overload
