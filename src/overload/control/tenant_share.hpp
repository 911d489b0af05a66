// Finds the tenants above their fair share of each class, each tick, from the merged sketches of
// all workers (mergeable summaries: Agarwal, Cormode, Huang, Phillips, Wei, Yi, PODS 2012).
//
// The shared resource is the upstream's time: demand and service count in requests of the class's
// mean cost. As in the queue (dispatch/queue/tenant_queue), a tenant with expensive requests is
// served fewer of them.
//
// The lower bound of the sketch counts as a tenant's demand: no tenant is refused for the requests
// of another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/admission/cause.hpp"
#include "overload/admission/excess.hpp"
#include "overload/admission/rules.hpp"
#include "overload/signals/tenant_shard.hpp"

namespace spillway::overload {

class TenantShare {
 public:
  explicit TenantShare(const config::Config& config) : queues_(config.classes.size()) {}

  // Call every tick, overloaded or not; by class.
  void note_queues(std::span<const std::uint32_t> queued, TimePoint now);

  // For an upstream overloaded with `reason`, under `rules`. Null when no tenant is above its share
  // in any class.
  std::shared_ptr<const TenantExcess> judge(std::span<const TenantShard* const> shards,
                                            const RuleTable& rules, Cause cause);

 private:
  struct Queue {
    double waiting = 0;
    double joined = 0;  // the change of `waiting`, decayed as the shards decay
  };

  std::vector<Queue> queues_;  // by class
  std::optional<TimePoint> noted_;
  std::vector<TenantDemand> tenants_;  // a member to reuse its memory
};

}  // namespace spillway::overload
