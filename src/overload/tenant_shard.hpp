// How much one worker was asked by each tenant of one upstream lately, for the tick to collect.
//
// One writer (the worker), any number of readers. Everything decays by half each second. Memory is
// fixed at construction whatever the number of tenants; nothing blocks.
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
#include "overload/heavy_hitters.hpp"

namespace spillway::overload {

struct TenantDemand {
  TenantId tenant{};
  double demand = 0;  // requests, decayed: at least that many,
  double error = 0;   // and at most that many more
};

class TenantShard {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(1);
  // What is left of a count after some time.
  static double decay(Duration passed);

  // Follows config.tenants.tracked tenants per class; nothing at all without tenants.fairness.
  explicit TenantShard(const config::Config& config);

  // A request arrived, before it is decided.
  void record_offered(ClassId traffic_class, TenantId tenant) {
    if (!classes_.empty()) classes_[index(traffic_class)].offered.record(tenant);
  }
  // It was given a slot.
  void record_admitted(ClassId traffic_class) {
    if (!classes_.empty()) classes_[index(traffic_class)].admitted += 1;
  }
  // Decays, and shows readers what there is. Part of a sweep, every 50 ms or so.
  void publish(TimePoint now);

  struct Sums {
    double offered = 0;
    double admitted = 0;
  };
  // As of the last publish(): appends the tenants of a class to `tenants`. A reader that takes
  // longer than a sweep may see figures of the next one among them.
  Sums read(ClassId traffic_class, std::vector<TenantDemand>& tenants) const;

 private:
  struct Place {
    std::atomic<std::uint64_t> tenant{0};
    std::atomic<double> demand{0};
    std::atomic<double> error{0};
  };
  struct Shown {
    std::atomic<double> offered{0};
    std::atomic<double> admitted{0};
    std::atomic<std::uint32_t> size{0};
    std::unique_ptr<Place[]> places;
  };
  struct Class {
    explicit Class(std::size_t tracked);

    HeavyHitters offered;
    double admitted = 0;
    std::unique_ptr<std::array<Shown, 2>> shown;
  };

  std::vector<Class> classes_;
  std::optional<TimePoint> published_;
  std::atomic<std::uint32_t> current_{0};  // which of Class::shown
};

}  // namespace spillway::overload
