// How often clients may ask the store about their jobs: one rate for all, and a part of it for each
// tenant, so that one that asks constantly leaves the others theirs. Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "resilience/token_bucket.hpp"

namespace spillway::proxy {

class LookupLimit {
 public:
  // A tenant's part. Tenants whose ids map to the same place share it.
  static constexpr double kPart = 0.25;
  static constexpr Milliseconds kLater{1000};

  // Per second; bursts of the same size.
  void set_rate(double rate) { rate_.store(rate, std::memory_order_relaxed); }

  // nullopt: the tenant may ask now; else after how long it may ask again, at the earliest.
  std::optional<Milliseconds> take(TenantId tenant, TimePoint now) {
    const double rate = rate_.load(std::memory_order_relaxed);
    const double its_rate = rate * kPart;
    auto& its = by_tenant_[static_cast<std::uint64_t>(tenant) % by_tenant_.size()];
    if (!its.try_take(its_rate, std::max(its_rate, 1.0), now)) return kLater;
    if (all_.try_take(rate, std::max(rate, 1.0), now)) return std::nullopt;
    its.give_back(its_rate);
    return kLater;
  }

 private:
  std::atomic<double> rate_{0};
  resilience::TokenBucket all_;
  std::array<resilience::TokenBucket, 256> by_tenant_;
};

}  // namespace spillway::proxy
