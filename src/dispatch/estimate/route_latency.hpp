// How long a route's answers usually take, from dispatch to the response's head or end: for whether
// a request can still meet its deadline, and how long an abandoned one is at work.
//
// The usual time is the 75th percentile if times are log-normal: from the mean and the variance
// of the logarithms of recent ones (each weighs 1/64), so that a few very slow answers do not
// make a route look slow. The least time is a minimum that rises slowly. With fewer than twenty
// samples, or none in the last two seconds, nothing is known: so a route whose requests are all
// refused is tried again. One owner (a worker), not thread-safe; allocates nothing after
// construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "dispatch/estimate/log_time.hpp"

namespace spillway::dispatch {

class RouteLatency {
 public:
  static constexpr std::uint32_t kEnoughSamples = 20;
  static constexpr Duration kFresh = std::chrono::seconds(2);

  struct Times {
    Duration usual{0};
    Duration least{0};
  };

  // RouteIds are below `routes`.
  explicit RouteLatency(std::size_t routes) : routes_(routes) {}

  std::optional<Times> times(RouteId route, TimePoint now) const {
    const Route& one = routes_[index(route)];
    if (one.samples < kEnoughSamples || now - one.last > kFresh) return std::nullopt;
    const double usual = one.log_mean + kThreeOfFour * std::sqrt(one.log_variance);
    return Times{from_seconds(std::exp(usual)), from_seconds(std::exp(one.log_least))};
  }

  // The 99th percentile, as far as known; nullopt with fewer than twenty samples. It does not
  // expire: a route that gets no requests does not become slower.
  std::optional<Duration> nearly_longest(RouteId route) const {
    const Route& one = routes_[index(route)];
    if (one.samples < kEnoughSamples) return std::nullopt;
    return from_seconds(std::exp(one.log_mean + kNinetyNine * std::sqrt(one.log_variance)));
  }

  // An answer of the route took `latency`.
  void record(RouteId route, LogTime latency, TimePoint now) {
    routes_[index(route)].add(latency, now);
  }

  // No answer came within `passed`: it would have taken longer. Counts only if that is longer than
  // usual.
  void record_unanswered(RouteId route, LogTime passed, TimePoint now) {
    Route& one = routes_[index(route)];
    if (one.samples > 0 && passed > one.log_mean) one.add(passed, now);
  }

 private:
  static constexpr std::uint32_t kMemory = 64;    // samples
  static constexpr double kThreeOfFour = 0.6745;  // standard deviations above a normal mean
  static constexpr double kNinetyNine = 2.3263;

  struct Route {
    double log_mean = 0;  // of seconds
    double log_variance = 0;
    double log_least = 0;
    std::uint32_t samples = 0;  // up to kMemory
    TimePoint last{};

    void add(double sample, TimePoint now) {
      if (samples < kMemory) ++samples;
      const double error = sample - log_mean;
      log_mean += error / samples;
      log_variance += (error * (sample - log_mean) - log_variance) / samples;
      const double risen = log_least + std::max(sample - log_least, 0.0) / kMemory;
      log_least = samples == 1 ? sample : std::min(sample, risen);
      last = now;
    }
  };

  std::vector<Route> routes_;
};

}  // namespace spillway::dispatch
