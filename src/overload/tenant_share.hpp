// Which tenants are above their fair share of each class: the shards of all workers put together
// at the tick (mergeable summaries: Agarwal, Cormode, Huang, Phillips, Wei, Yi, PODS 2012).
//
// A tenant's demand is taken for the least that it can have been: nobody is refused on suspicion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/reason.hpp"
#include "config/config.hpp"
#include "overload/excess.hpp"
#include "overload/rules.hpp"
#include "overload/tenant_shard.hpp"

namespace spillway::overload {

class TenantShare {
 public:
  explicit TenantShare(const config::Config& config) : classes_(config.classes.size()) {}

  // While the upstream is overloaded with `reason` and `rules` hold; `queued` by class. Null when
  // nobody is above its share in any class.
  std::shared_ptr<const TenantExcess> judge(std::span<const TenantShard* const> shards,
                                            std::span<const std::uint32_t> queued,
                                            const RuleTable& rules, Reason reason);

 private:
  std::size_t classes_;
  std::vector<TenantDemand> tenants_;  // kept for its memory
};

}  // namespace spillway::overload
