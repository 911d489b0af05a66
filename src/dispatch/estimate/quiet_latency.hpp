// How long a route's answers take at low load, and by what factor a latency exceeds that: so
// latencies of cheap and expensive routes become comparable, and a change of the mix does not
// change their distribution.
//
// The usual time is the geometric mean, from dispatch to the response head. The first sixty-four
// samples of a route count alike; after that each weighs by the time since the one before, but a
// 64th at most, so that samples older than ten minutes have lost most of their weight however many
// there are. One owner (a worker), not thread-safe; allocates nothing after construction.
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

class QuietLatency {
 public:
  static constexpr std::uint32_t kEnoughSamples = 20;
  static constexpr Duration kMemory = std::chrono::minutes(10);
  static constexpr double kLateTimes = 5;
  static constexpr double kLateSpreads = 3;  // standard deviations of the logarithm
  static constexpr Duration kLeastLate = std::chrono::milliseconds(200);
  static constexpr Duration kLateIfUnknown = std::chrono::seconds(1);
  static constexpr double kDelayedTimes = 2;
  static constexpr double kDelayedSpreads = 1.5;
  static constexpr Duration kLeastDelayed = std::chrono::milliseconds(40);

  // RouteIds are below `routes`.
  explicit QuietLatency(std::size_t routes) : routes_(routes) {}

  // `latency` / the route's usual one; nullopt: not known, with fewer than twenty samples.
  std::optional<double> relative(RouteId route, LogTime latency) const {
    const Route& one = routes_[index(route)];
    if (one.samples < kEnoughSamples) return std::nullopt;
    return std::exp(latency - one.log_mean);
  }

  // Whether a response is overdue after `waited`: the server has not begun the request, or is slow.
  // Below a second the spread counts, too: some requests of a route may always take much longer
  // than the others. A route with too few samples counts as the slowest of the others; after
  // kLateIfUnknown it is late in any case.
  bool is_late(RouteId route, Duration waited) const {
    if (waited < kLeastLate) return false;
    const Route* const like = known(route);
    if (waited >= kLateIfUnknown && like != &routes_[index(route)]) return true;
    if (like == nullptr) return false;
    const double log_times = LogTime(waited) - like->log_mean;
    if (log_times < std::log(kLateTimes)) return false;
    return waited >= kLateIfUnknown || log_times >= kLateSpreads * std::sqrt(like->log_variance);
  }

  // Whether a response takes longer than most: about one in ten does. So if most responses of an
  // upstream are delayed, they wait for something.
  bool is_delayed(RouteId route, Duration waited) const {
    if (waited < kLeastDelayed) return false;
    const Route* const like = known(route);
    if (like == nullptr) return is_late(route, waited);
    const double log_times = LogTime(waited) - like->log_mean;
    return log_times >=
           std::max(std::log(kDelayedTimes), kDelayedSpreads * std::sqrt(like->log_variance));
  }

  // Records an answer at low load.
  void learn(RouteId route, LogTime latency, TimePoint now) {
    Route& one = routes_[index(route)];
    if (one.samples < kAlike) ++one.samples;
    const double passed = to_seconds(now - one.last) / to_seconds(kMemory);
    const double weight =
        one.samples < kAlike ? 1.0 / one.samples : std::clamp(passed, 0.0, 1.0 / kAlike);
    const double off = latency - one.log_mean;
    one.log_mean += weight * off;
    one.log_variance = (1 - weight) * (one.log_variance + weight * off * off);
    one.last = now;
    consider_slowest(route);
  }

  // Copies what `former` has learned about its route `its`.
  void continue_from(RouteId route, const QuietLatency& former, RouteId its) {
    routes_[index(route)] = former.routes_[index(its)];
    consider_slowest(route);
  }

 private:
  static constexpr std::uint32_t kAlike = 64;

  struct Route {
    double log_mean = 0;  // of seconds
    double log_variance = 0;
    std::uint32_t samples = 0;
    TimePoint last{};
  };

  // The route whose values apply to it; with too few samples, the slowest of the others; null: no
  // route has enough.
  const Route* known(RouteId route) const {
    const Route& its = routes_[index(route)];
    const Route& like = its.samples >= kEnoughSamples ? its : routes_[slowest_];
    return like.samples >= kEnoughSamples ? &like : nullptr;
  }

  // If the slowest has become quicker than another route, the latter takes its place with its next
  // answer.
  void consider_slowest(RouteId route) {
    const Route& one = routes_[index(route)];
    const Route& slowest = routes_[slowest_];
    if (one.samples < kEnoughSamples) return;
    if (slowest.samples < kEnoughSamples || one.log_mean > slowest.log_mean)
      slowest_ = index(route);
  }

  std::vector<Route> routes_;
  std::size_t slowest_ = 0;  // among those with enough samples
};

}  // namespace spillway::dispatch
