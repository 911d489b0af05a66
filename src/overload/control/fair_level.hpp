// Weighted max-min fairness among the tenants of one class: computes from their demands, weights
// and the capacity the level that each may reach per unit of weight, and the probability of
// refusing a request above it.
//
// Refusing by probability is approximate fair dropping (Pan, Breslau, Prabhakar, Shenker,
// "Approximate fairness through differential dropping", CCR 2003): a tenant with demand d, weight
// w and level L is refused with probability 1 - w L/d, so that no per-tenant counter is needed on
// the request path.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "overload/admission/excess.hpp"
#include "overload/signals/tenant_shard.hpp"

namespace spillway::overload {

// Demand and capacity of one class, in requests of its mean cost, over the same decayed window.
struct ClassLoad {
  double offered = 0;
  double service = 0;               // how many requests can be served
  std::span<TenantDemand> tenants;  // tenants with a counter, each once; will be sorted
};

// The level L at which the demands, each cut down to L times its weight, add up to `service`;
// infinite when they do not exceed it. `demands` by rising demand / weight.
double water_level(std::span<const TenantDemand> demands, double service);

// The tenants above their fair share. None when the service covers the demand, with fewer than two
// tenants or fewer than 20 requests. `probability`: that of the class's denying rule, which these
// refusals count towards (see ClassExcess::rule_scale); zero without one.
ClassExcess tenants_above(ClassLoad load, double probability);

}  // namespace spillway::overload
