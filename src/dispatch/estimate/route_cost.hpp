// Estimates a request's cost by its route: the exponentially weighted mean of the milliseconds for
// which slots were held.
//
// Requests forwarded as degraded (skip_downstream) have a separate mean: the upstream leaves out
// expensive work. The first samples of a route are averaged; from the sixty-fourth on each weighs
// 1/64. One owner (a worker), not thread-safe; a few nanoseconds a call, nothing allocates after
// construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::dispatch {

class RouteCost {
 public:
  static constexpr double kLeast = 0.001;  // milliseconds: nothing is free

  // RouteIds are below `routes`.
  explicit RouteCost(std::size_t routes) : means_(2 * routes) {}

  // Milliseconds, >= kLeast. Before the route's first sample the mean over all routes; 1 before
  // any. Before its first degraded sample a degraded request counts as half of a complete one.
  double estimate(RouteId route, bool degraded = false) const {
    const Mean& mean = means_[mean_index(route, degraded)];
    if (mean.samples > 0) return std::max(mean.value, kLeast);
    if (degraded) return std::max(estimate(route) / 2, kLeast);
    return all_.samples > 0 ? std::max(all_.value, kLeast) : 1;
  }

  // A negative time counts as zero.
  void record(RouteId route, Duration held, bool degraded = false) {
    const double milliseconds = std::max(to_milliseconds(held), 0.0);
    means_[mean_index(route, degraded)].add(milliseconds);
    if (!degraded) all_.add(milliseconds);
  }

 private:
  struct Mean {
    static constexpr std::uint32_t kMemory = 64;  // samples

    double value = 0;
    std::uint32_t samples = 0;  // up to kMemory

    void add(double sample) {
      if (samples < kMemory) ++samples;
      value += (sample - value) / samples;
    }
  };

  static std::size_t mean_index(RouteId route, bool degraded) {
    return 2 * index(route) + (degraded ? 1 : 0);
  }

  std::vector<Mean> means_;  // by route: complete, degraded
  Mean all_;
};

}  // namespace spillway::dispatch
