// How long the demo backend works on one request: lognormal, as service times of web
// backends usually look (many a little under the mean, a long tail above it).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "base/random.hpp"
#include "base/time.hpp"

namespace spillway::demo {

class ServiceTime {
 public:
  // `mean` > 0; `sigma` >= 0 is the deviation of the logarithm, 0 makes every time the mean.
  ServiceTime(Duration mean, double sigma, std::uint64_t seed)
      : mu_(std::log(to_seconds(mean)) - sigma * sigma / 2), sigma_(sigma), random_(seed) {}

  Duration draw() {
    // Box-Muller; 1 - u keeps the logarithm away from zero.
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random_.uniform());
    return from_seconds(std::exp(mu_ + sigma_ * normal));
  }

 private:
  double mu_;
  double sigma_;
  Random random_;
};

// How much slower everything gets when more than `knee` requests are inside (memory pressure,
// lock contention, swapping): in proportion to the excess, at most tenfold. `knee` 0: never.
inline double slowdown(std::size_t inside, std::size_t knee) {
  if (knee == 0 || inside <= knee) return 1;
  return std::min(10.0, static_cast<double>(inside) / static_cast<double>(knee));
}

}  // namespace spillway::demo
