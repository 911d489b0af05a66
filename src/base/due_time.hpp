// When a request's time is up: once overall, and once as the operator alone sets it.
//
// A client may ask for an earlier time than the operator's, and then gives up sooner. Whatever
// moves one request ahead of another, or counts as the proxy's failure, uses `operators`, so that
// no client gains from being in a hurry. Where one time is enough, it is `at`.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace spillway {

struct DueTime {
  TimePoint at = kNever;
  TimePoint operators = kNever;  // never before `at`

  constexpr DueTime() = default;
  // Set by the operator.
  constexpr DueTime(TimePoint all) : at(all), operators(all) {}
  // One time from the operator, one from the client, which counts only if it is earlier.
  constexpr DueTime(TimePoint operators_choice, TimePoint clients)
      : at(std::min(operators_choice, clients)), operators(operators_choice) {}

  constexpr operator TimePoint() const { return at; }
  // The client's own time comes first.
  constexpr bool is_clients() const { return at < operators; }

  friend constexpr bool operator==(const DueTime& a, TimePoint b) { return a.at == b; }
};

// The earlier time, separately for `at` and `operators`.
constexpr DueTime earlier_of(const DueTime& a, const DueTime& b) {
  DueTime both;
  both.at = std::min(a.at, b.at);
  both.operators = std::min(a.operators, b.operators);
  return both;
}

}  // namespace spillway
