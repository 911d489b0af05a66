// What a request of each route costs the upstream, learned: the exponentially weighted mean of
// the milliseconds for which its slots were held.
//
// The first samples of a route are averaged; from the sixty-fourth on each weighs 1/64. One owner
// (a worker), not thread-safe; a few nanoseconds a call, nothing allocates after construction.
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
  explicit RouteCost(std::size_t routes) : means_(routes) {}

  // Milliseconds, >= kLeast. Before the route's first sample the mean over all routes; 1 before
  // any.
  double estimate(RouteId route) const {
    const Mean& mean = means_[index(route)];
    if (mean.samples > 0) return std::max(mean.value, kLeast);
    return all_.samples > 0 ? std::max(all_.value, kLeast) : 1;
  }

  // Less than no time counts as none.
  void record(RouteId route, Duration held) {
    const double milliseconds = std::max(to_milliseconds(held), 0.0);
    means_[index(route)].add(milliseconds);
    all_.add(milliseconds);
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

  std::vector<Mean> means_;
  Mean all_;
};

}  // namespace spillway::dispatch
