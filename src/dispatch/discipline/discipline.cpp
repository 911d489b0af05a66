#include "dispatch/discipline/discipline.hpp"

#include <cassert>

#include "dispatch/discipline/aging.hpp"
#include "dispatch/discipline/deficit_round_robin.hpp"
#include "dispatch/discipline/earliest_deadline.hpp"
#include "dispatch/discipline/fair_share.hpp"
#include "dispatch/discipline/round_robin.hpp"
#include "dispatch/discipline/strict_priority.hpp"
#include "dispatch/discipline/weighted_round_robin.hpp"

namespace spillway::dispatch {

std::unique_ptr<Discipline> make_discipline(const config::Dispatch& settings,
                                            std::span<const config::TrafficClass> classes) {
  assert(!classes.empty() && classes.size() <= kMaxClasses);
  Weights weights{};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    weights[i] = classes[i].egress_weight.value_or(classes[i].weight);
    assert(weights[i] > 0);
  }
  const std::size_t count = classes.size();
  switch (settings.discipline) {
    case config::Discipline::pq: return std::make_unique<StrictPriority>(weights, count);
    case config::Discipline::rr: return std::make_unique<RoundRobin>(weights, count);
    case config::Discipline::wrr: return std::make_unique<WeightedRoundRobin>(weights, count);
    case config::Discipline::drr: return std::make_unique<DeficitRoundRobin>(weights, count);
    case config::Discipline::wfq: break;
    case config::Discipline::aging:
      return std::make_unique<Aging>(weights, count, settings.aging_half_life);
    case config::Discipline::edf: return std::make_unique<EarliestDeadline>(weights, count);
  }
  return std::make_unique<FairShare>(weights, count);
}

}  // namespace spillway::dispatch
