#include "overload/admission/tenant_budgets.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {
namespace {

constexpr double kDay = 24 * 3600 * 1000.0;  // milliseconds

}  // namespace

TenantBudgets::TenantBudgets(const config::Tenants& tenants) {
  const auto named = config::named_tenants(tenants.api_keys);
  const auto count = static_cast<std::size_t>(std::count_if(
      named.begin(), named.end(), [](const auto& one) { return one.tier.budget.has_value(); }));
  if (count == 0) return;
  budgets_ = std::make_unique<TenantBudget[]>(count);
  std::uint32_t next = 0;
  for (const config::NamedTenant& one : named) {
    budget_of_.push_back(one.tier.budget ? next : kNone);
    if (!one.tier.budget) continue;
    TenantBudget& budget = budgets_[next++];
    budget.limit_ = *one.tier.budget;
    const double pause = budget.limit_.rate > 0 ? std::ceil(1000 / budget.limit_.rate) : kDay;
    budget.time_per_request_ = Milliseconds(static_cast<std::int64_t>(std::min(pause, kDay)));
  }
}

}  // namespace spillway::overload
