#include "dispatch/discipline/discipline.hpp"

#include <cassert>

#include "dispatch/discipline/disciplines.hpp"

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
    case config::Discipline::pq: return make_strict_priority(weights, count);
    case config::Discipline::rr: return make_round_robin(weights, count);
    case config::Discipline::wrr: return make_weighted_round_robin(weights, count);
    case config::Discipline::drr: return make_deficit_round_robin(weights, count);
    case config::Discipline::wfq: break;
    case config::Discipline::aging: return make_aging(weights, count, settings.aging_half_life);
    case config::Discipline::edf: return make_earliest_deadline(weights, count);
  }
  return make_fair_share(weights, count);
}

}  // namespace spillway::dispatch
