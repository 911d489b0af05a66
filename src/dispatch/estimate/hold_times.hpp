// The longest time that an abandoned request of a route keeps its slot, learned from abandoned
// requests alone: the answers of a mostly quick route do not show how long its slow requests take,
// and a client that leaves chooses which requests it abandons.
//
// It doubles if the upstream was still at work at its end, as TCP's timer does without a sample
// (RFC 6298 section 5.5), and is at least one and a half times as long as an abandoned request
// took. It halves in a minute without either: quick abandoned requests do not shorten it, or thirty
// of them would hide a slow one. The caller limits it. One owner (a worker), not thread-safe;
// allocates nothing after construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace spillway::dispatch {

// After its response timeout a request keeps its slot for as long again, within these bounds: long
// enough for work of many times a short timeout, and short enough for a server that never answers.
inline constexpr Duration kLeastPastTimeout = std::chrono::seconds(2);
inline constexpr Duration kMostPastTimeout = std::chrono::seconds(10);

constexpr Duration hold_past_timeout(Duration timeout) {
  return std::clamp(timeout, kLeastPastTimeout, kMostPastTimeout);
}

class HoldTimes {
 public:
  static constexpr Duration kHalfLife = std::chrono::seconds(60);
  static constexpr Duration kMost = std::chrono::hours(24);

  // RouteIds are below `routes`.
  explicit HoldTimes(std::size_t routes) : routes_(routes) {}

  // Zero: nothing is known.
  Duration of(RouteId route, TimePoint now) const {
    const Route& one = routes_[index(route)];
    if (one.hold == Duration{0}) return one.hold;
    const Duration passed = std::max(now - one.at, Duration{0});
    return from_seconds(to_seconds(one.hold) *
                        std::exp2(-to_seconds(passed) / to_seconds(kHalfLife)));
  }

  // The upstream had not answered after `held`, when the hold ended.
  void outlasted(RouteId route, Duration held, TimePoint now) { raise(route, 2 * held, now); }

  // The upstream ended the request after `took`. It may have stopped because its client left.
  void ended(RouteId route, Duration took, TimePoint now) { raise(route, took + took / 2, now); }

 private:
  struct Route {
    Duration hold{0};
    TimePoint at{};
  };

  void raise(RouteId route, Duration least, TimePoint now) {
    if (least > of(route, now)) routes_[index(route)] = {std::min(least, kMost), now};
  }

  std::vector<Route> routes_;
};

}  // namespace spillway::dispatch
