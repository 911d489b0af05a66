#include "overload/control/tenant_share.hpp"

#include <algorithm>
#include <utility>

#include "overload/control/fair_level.hpp"

namespace spillway::overload {
namespace {

// A service this close to the demand is no shortage: some requests have not been dispatched yet.
constexpr double kEnough = 0.95;
// The service was measured with a queue that stays full, which also refuses tenants with little
// demand. Assuming slightly less lets the queue drain.
constexpr double kDrain = 0.98;

double refusing_probability(const config::Rule& rule) {
  const bool refuses =
      rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop;
  return refuses ? rule.probability : 0;
}

// Converts milliseconds to requests of the mean cost.
void count_in_requests(TenantShard::Sums& sums, std::vector<TenantDemand>& tenants) {
  if (sums.requests <= 0) return;
  const double unit = sums.offered / sums.requests;
  if (unit <= 0) return;
  sums.offered = sums.requests;
  sums.admitted /= unit;
  for (TenantDemand& one : tenants) {
    one.demand /= unit;
    one.error /= unit;
  }
}

// How much of a class's demand can be served. For a capacity reason: the admitted requests, since
// refusals are work-conserving, plus those that joined the queue, so that a rising demand is not
// mistaken for a shortage. Otherwise the share that its rule lets pass. The admitted requests would
// not do here: the rule refuses its share of any demand, so each measurement would be smaller than
// the last.
double service_of(const TenantShard::Sums& sums, double joined, double probability, Cause cause) {
  if (!cause.work_conserving) return (1 - probability) * sums.offered;
  const double served = sums.admitted + joined;
  return served >= kEnough * sums.offered ? sums.offered : kDrain * served;
}

// Each tenant once, with the sums of its demands and errors.
void merge(std::vector<TenantDemand>& tenants) {
  std::sort(tenants.begin(), tenants.end(),
            [](const auto& a, const auto& b) { return a.tenant < b.tenant; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (kept > 0 && tenants[kept - 1].tenant == tenants[i].tenant) {
      tenants[kept - 1].demand += tenants[i].demand;
      tenants[kept - 1].error += tenants[i].error;
    } else {
      tenants[kept++] = tenants[i];
    }
  }
  tenants.resize(kept);
}

}  // namespace

void TenantShare::note_queues(std::span<const std::uint32_t> queued, TimePoint now) {
  const double keep = TenantShard::decay(now - noted_.value_or(now));
  noted_ = now;
  for (std::size_t i = 0; i < std::min(queues_.size(), queued.size()); ++i) {
    const double waiting = queued[i];
    queues_[i] = {waiting, decayed(queues_[i].joined, keep) + waiting - queues_[i].waiting};
  }
}

std::shared_ptr<const TenantExcess> TenantShare::judge(std::span<const TenantShard* const> shards,
                                                       const RuleTable& rules, Cause cause) {
  std::vector<ClassExcess> result;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const ClassId traffic_class{static_cast<std::uint8_t>(i)};
    tenants_.clear();
    TenantShard::Sums sums;
    for (const TenantShard* shard : shards) {
      const TenantShard::Sums of_worker = shard->read(traffic_class, tenants_);
      sums.requests += of_worker.requests;
      sums.offered += of_worker.offered;
      sums.admitted += of_worker.admitted;
    }
    merge(tenants_);
    count_in_requests(sums, tenants_);
    const double probability = refusing_probability(rules.class_rule(traffic_class).rule);
    const double service = service_of(sums, queues_[i].joined, probability, cause);
    // On a route whose rule does not refuse, a heavy tenant is cut only for a capacity reason. For
    // any other reason its refusals count towards the rule only if every route's rule refuses.
    const bool counts_towards_rule = cause.work_conserving || rules.all_refuse(traffic_class);
    ClassExcess excess =
        tenants_above({sums.offered, service, tenants_}, counts_towards_rule ? probability : 0);
    if (excess.empty()) continue;
    result.resize(queues_.size());
    result[i] = std::move(excess);
  }
  if (result.empty()) return nullptr;
  return std::make_shared<const TenantExcess>(std::move(result));
}

}  // namespace spillway::overload
