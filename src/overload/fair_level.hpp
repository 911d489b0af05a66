// Max-min fairness among tenants, as numbers: who asks for how much, how much there is, and who
// is to be cut down to what.
//
// The cut is a chance for each request, as in approximate fair dropping (Pan, Breslau, Prabhakar,
// Shenker, "Approximate fairness through differential dropping", CCR 2003): a tenant that asks
// for d and is to have L is refused with the chance 1 - L/d, so that nothing need be counted per
// tenant while requests are decided.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "overload/excess.hpp"
#include "overload/tenant_shard.hpp"

namespace spillway::overload {

// What one class was asked and can give, all in requests of the same decayed window.
struct ClassLoad {
  double offered = 0;
  double service = 0;               // how many of them may pass
  std::span<TenantDemand> tenants;  // those that have a counter, each once; will be sorted
};

// The level L at which the demands, each cut down to L, add up to `service`; infinite when they
// do not exceed it. `demands` by rising demand.
double water_level(std::span<const TenantDemand> demands, double service);

// The tenants above their fair share. None when there is enough for all, with fewer than two
// tenants or fewer than 20 requests. `probability`: that of a denying rule which the cuts are to
// stand in for (see ClassExcess::relief), zero without one.
ClassExcess tenants_above(ClassLoad load, double probability);

}  // namespace spillway::overload
