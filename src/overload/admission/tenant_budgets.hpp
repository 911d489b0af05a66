// The rate limits of tenants (tenants.api_keys[].budget): one token bucket each, shared by all
// workers without a lock, in force whether an upstream is overloaded or not.
//
// As users of a rate limiter expect (limit_req of NGINX, Envoy's local rate limit) every request
// that gets this far counts, on all routes together, also if it is refused or answered from the
// cache later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "config/config.hpp"
#include "config/named_tenants.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::overload {

class alignas(64) TenantBudget {  // on a cache line of its own: tenants do not slow each other down
 public:
  bool try_take(TimePoint now) { return tokens_.try_take(limit_.rate, limit_.burst, now); }
  double available(TimePoint now) const {
    return tokens_.available(limit_.rate, limit_.burst, now);
  }
  // The time until one more request passes, rounded up; at most a day.
  Milliseconds time_per_request() const { return time_per_request_; }

 private:
  friend class TenantBudgets;

  config::Budget limit_;
  Milliseconds time_per_request_{0};
  resilience::TokenBucket tokens_;
};

class TenantBudgets {
 public:
  explicit TenantBudgets(const config::Tenants& tenants);

  // By the tenant's number (config::Tier); null for one without a budget or a number.
  TenantBudget* find(std::uint32_t number) const {
    if (number >= budget_of_.size() || budget_of_[number] == kNone) return nullptr;
    return &budgets_[budget_of_[number]];
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> budget_of_;  // by number; empty if no tenant has a budget
  std::unique_ptr<TenantBudget[]> budgets_;
};

}  // namespace spillway::overload
