// One worker's recent demand per tenant and class for one upstream, collected by the control tick.
// Measured in the upstream's time, not in requests, since the tenants of a class may ask for routes
// that differ in cost.
//
// One writer (the worker), any number of readers, no locks. Sums halve each second. Memory is
// fixed at construction whatever the number of tenants.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/heavy_hitters.hpp"

namespace spillway::overload {

struct TenantDemand {
  TenantId tenant{};
  double demand = 0;  // milliseconds of the upstream's time, decayed: a lower bound
  double error = 0;   // demand + error is an upper bound
  double weight = 1;  // its weight in fair sharing, relative to others
};

class TenantShard {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(1);
  // The factor by which sums shrink within `passed`.
  static double decay(Duration passed);

  // Tracks config.tenants.tracked tenants per class; none without tenants.fairness.
  explicit TenantShard(const config::Config& config);

  // A request arrived, before its verdict. `cost`: of a complete request of its route, in estimated
  // milliseconds of the upstream's time, > 0. `weight`: the tenant's.
  void record_offered(ClassId traffic_class, TenantId tenant, double cost, double weight = 1) {
    if (classes_.empty()) return;
    Class& its = classes_[index(traffic_class)];
    its.offered.record(tenant, cost, static_cast<float>(weight));
    its.requests += 1;
  }
  // It got a slot. `cost` as above, also for a request that was made cheaper: it is not refused.
  void record_admitted(ClassId traffic_class, double cost) {
    if (!classes_.empty()) classes_[index(traffic_class)].admitted += cost;
  }
  // Decays the sums and publishes them to readers. Called by a sweep, about every 50 ms.
  void publish(TimePoint now);

  struct Sums {
    double requests = 0;  // requests that arrived
    double offered = 0;   // their cost
    double admitted = 0;  // the part of that cost that was admitted
  };
  // As of the last publish(): appends the tenants of a class to `tenants`. A reader that takes
  // longer than a sweep may also see figures of the next publish().
  Sums read(ClassId traffic_class, std::vector<TenantDemand>& tenants) const;

 private:
  struct PublishedTenant {
    std::atomic<std::uint64_t> tenant{0};
    std::atomic<double> demand{0};
    std::atomic<double> error{0};
    std::atomic<float> weight{1};
  };
  struct Published {
    std::atomic<double> requests{0};
    std::atomic<double> offered{0};
    std::atomic<double> admitted{0};
    std::atomic<std::uint32_t> size{0};
    std::unique_ptr<PublishedTenant[]> tenants;
  };
  struct Class {
    explicit Class(std::size_t tracked);

    HeavyHitters offered;
    double requests = 0;
    double admitted = 0;
    std::unique_ptr<std::array<Published, 2>> published;
  };

  std::vector<Class> classes_;
  std::optional<TimePoint> published_;
  std::atomic<std::uint32_t> current_{0};  // which of Class::published
};

}  // namespace spillway::overload
