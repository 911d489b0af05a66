#include "overload/signals/tenant_shard.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {

TenantShard::Class::Class(std::size_t tracked)
    : offered(tracked), published(std::make_unique<std::array<Published, 2>>()) {
  for (Published& one : *published)
    one.tenants = std::make_unique<PublishedTenant[]>(offered.capacity());
}

TenantShard::TenantShard(const config::Config& config) {
  if (!config.tenants.fairness) return;
  classes_.reserve(config.classes.size());
  for (std::size_t i = 0; i < config.classes.size(); ++i)
    classes_.emplace_back(config.tenants.tracked);
}

double TenantShard::decay(Duration passed) {
  return std::exp2(-to_seconds(std::max(passed, Duration{0})) / to_seconds(kHalfLife));
}

void TenantShard::publish(TimePoint now) {
  const double factor = decay(now - published_.value_or(now));
  published_ = now;
  const std::uint32_t next = 1 - current_.load(std::memory_order_relaxed);
  for (Class& c : classes_) {
    c.offered.decay(factor);
    c.requests = decayed(c.requests, factor);
    c.admitted = decayed(c.admitted, factor);
    Published& published = (*c.published)[next];
    published.requests.store(c.requests, std::memory_order_relaxed);
    published.offered.store(c.offered.total(), std::memory_order_relaxed);
    published.admitted.store(c.admitted, std::memory_order_relaxed);
    std::size_t size = 0;
    for (const HeavyHitters::Counted& one : c.offered.counted()) {
      PublishedTenant& out = published.tenants[size++];
      out.tenant.store(static_cast<std::uint64_t>(one.tenant), std::memory_order_relaxed);
      out.demand.store(one.certain(), std::memory_order_relaxed);
      out.error.store(one.error, std::memory_order_relaxed);
      out.weight.store(one.share, std::memory_order_relaxed);
    }
    published.size.store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
  }
  current_.store(next, std::memory_order_release);
}

TenantShard::Sums TenantShard::read(ClassId traffic_class,
                                    std::vector<TenantDemand>& tenants) const {
  if (classes_.empty()) return {};
  const Class& of_class = classes_[index(traffic_class)];
  const Published& published = (*of_class.published)[current_.load(std::memory_order_acquire)];
  const std::uint32_t size = published.size.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size; ++i) {
    const PublishedTenant& one = published.tenants[i];
    tenants.push_back({TenantId{one.tenant.load(std::memory_order_relaxed)},
                       one.demand.load(std::memory_order_relaxed),
                       one.error.load(std::memory_order_relaxed),
                       one.weight.load(std::memory_order_relaxed)});
  }
  return {published.requests.load(std::memory_order_relaxed),
          published.offered.load(std::memory_order_relaxed),
          published.admitted.load(std::memory_order_relaxed)};
}

}  // namespace spillway::overload
