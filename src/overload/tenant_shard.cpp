#include "overload/tenant_shard.hpp"

#include <algorithm>
#include <cmath>

namespace spillway::overload {

TenantShard::Class::Class(std::size_t tracked)
    : offered(tracked), shown(std::make_unique<std::array<Shown, 2>>()) {
  for (Shown& one : *shown) one.places = std::make_unique<Place[]>(offered.capacity());
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
    c.admitted = decayed(c.admitted, factor);
    Shown& shown = (*c.shown)[next];
    shown.offered.store(c.offered.total(), std::memory_order_relaxed);
    shown.admitted.store(c.admitted, std::memory_order_relaxed);
    std::size_t size = 0;
    for (const HeavyHitters::Counted& one : c.offered.counted()) {
      Place& place = shown.places[size++];
      place.tenant.store(static_cast<std::uint64_t>(one.tenant), std::memory_order_relaxed);
      place.demand.store(one.certain(), std::memory_order_relaxed);
      place.error.store(one.error, std::memory_order_relaxed);
    }
    shown.size.store(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
  }
  current_.store(next, std::memory_order_release);
}

TenantShard::Sums TenantShard::read(ClassId traffic_class,
                                    std::vector<TenantDemand>& tenants) const {
  if (classes_.empty()) return {};
  const Class& of_class = classes_[index(traffic_class)];
  const Shown& shown = (*of_class.shown)[current_.load(std::memory_order_acquire)];
  const std::uint32_t size = shown.size.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size; ++i) {
    const Place& place = shown.places[i];
    tenants.push_back({TenantId{place.tenant.load(std::memory_order_relaxed)},
                       place.demand.load(std::memory_order_relaxed),
                       place.error.load(std::memory_order_relaxed)});
  }
  return {shown.offered.load(std::memory_order_relaxed),
          shown.admitted.load(std::memory_order_relaxed)};
}

}  // namespace spillway::overload
