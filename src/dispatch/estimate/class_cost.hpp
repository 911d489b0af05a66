// The cost of a route's requests that decides its class (priority_by_cost): about that of the
// expensive ones among them. Clients could choose a mean: many cheap requests to an expensive route
// would let its expensive requests go first.
//
// The first samples of a route are averaged. After that a more expensive one weighs 1/64, and a
// cheaper one lowers the cost at most by decay over the time passed: with only cheap ones 1/e is
// left after five minutes, as after a stall of the upstream. So requests that come once a second
// have their cost count, however many cheap ones come in between. One owner (a worker), not
// thread-safe; a few nanoseconds a call, nothing allocates after construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::dispatch {

class ClassCost {
 public:
  static constexpr std::uint32_t kEnough = 20;
  static constexpr Duration kFall = std::chrono::minutes(5);

  // RouteIds are below `routes`. `most`: milliseconds, from which on the class is the lowest;
  // larger samples count as that, or one stall would be remembered for long.
  ClassCost(std::size_t routes, double most) : most_(most), costs_(routes) {}

  // Milliseconds; nullopt before twenty samples.
  std::optional<double> of(RouteId route) const {
    const Cost& cost = costs_[index(route)];
    return cost.samples >= kEnough ? std::optional(cost.value) : std::nullopt;
  }

  // Responses of any status count: some routes never answer 2xx.
  void record(RouteId route, Duration held, TimePoint now) {
    Cost& cost = costs_[index(route)];
    const double sample = std::clamp(to_milliseconds(held), 0.0, most_);
    const bool is_full = cost.samples == kMemory;
    if (!is_full) ++cost.samples;
    const double mean = cost.value + (sample - cost.value) / cost.samples;
    const double passed = double((now - cost.at).count()) / double(kFall.count());
    const double least = is_full ? cost.value * std::clamp(1 - passed, 0.0, 1.0) : 0;
    cost.value = std::max(mean, least);
    cost.at = now;
  }

 private:
  static constexpr std::uint32_t kMemory = 64;  // samples

  struct Cost {
    double value = 0;
    std::uint32_t samples = 0;  // up to kMemory
    TimePoint at{};             // of the last sample
  };

  double most_;
  std::vector<Cost> costs_;  // by route
};

}  // namespace spillway::dispatch
