// How long the backend of a load works on one request: lognormal, as service times of web backends
// usually look (many a little under the mean, a long tail above it).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "base/random.hpp"
#include "base/time.hpp"

namespace spillway::load {

// A few requests that take much longer than the rest.
struct Tail {
  double share = 0;  // of the requests, [0, 1]
  double factor = 10;
};

class ServiceTime {
 public:
  // `mean` > 0 without the tail; `sigma` >= 0 is the deviation of the logarithm, 0 makes every time
  // the mean.
  ServiceTime(Duration mean, double sigma, std::uint64_t seed, Tail tail = {})
      : mean_(mean),
        mu_(std::log(to_seconds(mean)) - sigma * sigma / 2),
        sigma_(sigma),
        tail_(tail),
        seed_(seed),
        random_(seed) {}

  Duration draw() { return drawn_from(random_); }

  // That of the request of this number: always the same, whatever was drawn before.
  Duration of(std::uint32_t number) const {
    constexpr std::uint64_t kStep = 0xd1342543de82ef95u;  // odd: numbers stay apart
    Random random(Random(Random(seed_).next() + number * kStep).next());
    return drawn_from(random);
  }

  // With the tail.
  Duration mean() const {
    return from_seconds(to_seconds(mean_) * (1 + tail_.share * (tail_.factor - 1)));
  }

 private:
  Duration drawn_from(Random& random) const {
    // Box-Muller; 1 - u keeps the logarithm away from zero.
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
    const double longer = tail_.share > 0 && random.uniform() < tail_.share ? tail_.factor : 1;
    return from_seconds(std::exp(mu_ + sigma_ * normal) * longer);
  }

  Duration mean_;
  double mu_;
  double sigma_;
  Tail tail_;
  std::uint64_t seed_;
  Random random_;
};

// How much slower everything gets when more than `knee` requests are inside (memory pressure,
// lock contention, swapping): in proportion to the excess, at most tenfold. `knee` 0: never.
inline double slowdown(std::size_t inside, std::size_t knee) {
  if (knee == 0 || inside <= knee) return 1;
  return std::min(10.0, static_cast<double>(inside) / static_cast<double>(knee));
}

}  // namespace spillway::load
