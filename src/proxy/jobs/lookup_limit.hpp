// How often clients may ask the store after their jobs: a rate for all together, and of it a part
// for each tenant, so that one that asks all the time leaves the others theirs. Thread-safe.
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
  // A tenant's part. Tenants whose ids fall on the same place have it together.
  static constexpr double kPart = 0.25;
  static constexpr Milliseconds kLater{1000};

  // Per second; as many at once.
  void set_rate(double rate) { rate_.store(rate, std::memory_order_relaxed); }

  // nullopt: the tenant may ask now; else when it may ask again, at the earliest.
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
