// When the time of a request is over, and as far as the operator says so.
//
// A client may choose an earlier time than the operator's, and gives up sooner by it. Whatever
// makes one request go before another, or is counted as the proxy's failure, goes by `operators`:
// so no client gains by being in a hurry. Where one time is enough it stands for `at`.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace spillway {

struct DueTime {
  TimePoint at = kNever;
  TimePoint operators = kNever;  // never before `at`

  constexpr DueTime() = default;
  // The operator's.
  constexpr DueTime(TimePoint all) : at(all), operators(all) {}
  // One that the operator chose, and one of the client, which counts only if it is earlier.
  constexpr DueTime(TimePoint operators_choice, TimePoint clients)
      : at(std::min(operators_choice, clients)), operators(operators_choice) {}

  constexpr operator TimePoint() const { return at; }
  // The client's own comes first.
  constexpr bool is_clients() const { return at < operators; }

  friend constexpr bool operator==(const DueTime& a, TimePoint b) { return a.at == b; }
};

// The earlier of the two, for each party.
constexpr DueTime earlier_of(const DueTime& a, const DueTime& b) {
  DueTime both;
  both.at = std::min(a.at, b.at);
  both.operators = std::min(a.operators, b.operators);
  return both;
}

}  // namespace spillway
