// One worker's recent demand per tenant and class for one upstream, collected by the control tick.
//
// One writer (the worker), any number of readers, no locks. Counts halve each second. Memory is
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
  double demand = 0;  // requests, decayed: a lower bound
  double error = 0;   // demand + error is an upper bound
  double weight = 1;  // of its fair share, relative to others
};

class TenantShard {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(1);
  // The factor by which counts shrink in that time.
  static double decay(Duration passed);

  // Follows config.tenants.tracked tenants per class; nothing at all without tenants.fairness.
  explicit TenantShard(const config::Config& config);

  // A request arrived, before it is decided. `weight`: the tenant's.
  void record_offered(ClassId traffic_class, TenantId tenant, double weight = 1) {
    if (classes_.empty()) return;
    classes_[index(traffic_class)].offered.record(tenant, 1, static_cast<float>(weight));
  }
  // It got a slot.
  void record_admitted(ClassId traffic_class) {
    if (!classes_.empty()) classes_[index(traffic_class)].admitted += 1;
  }
  // Decays the counts and publishes them to readers. Called by a sweep, about every 50 ms.
  void publish(TimePoint now);

  struct Sums {
    double offered = 0;
    double admitted = 0;
  };
  // As of the last publish(): appends the tenants of a class to `tenants`. A reader that takes
  // longer than a sweep may see figures of the next one among them.
  Sums read(ClassId traffic_class, std::vector<TenantDemand>& tenants) const;

 private:
  struct PublishedTenant {
    std::atomic<std::uint64_t> tenant{0};
    std::atomic<double> demand{0};
    std::atomic<double> error{0};
    std::atomic<float> weight{1};
  };
  struct Published {
    std::atomic<double> offered{0};
    std::atomic<double> admitted{0};
    std::atomic<std::uint32_t> size{0};
    std::unique_ptr<PublishedTenant[]> tenants;
  };
  struct Class {
    explicit Class(std::size_t tracked);

    HeavyHitters offered;
    double admitted = 0;
    std::unique_ptr<std::array<Published, 2>> published;
  };

  std::vector<Class> classes_;
  std::optional<TimePoint> published_;
  std::atomic<std::uint32_t> current_{0};  // which of Class::published
};

}  // namespace spillway::overload
