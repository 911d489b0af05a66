// How long an abandoned request keeps its slot at most.
//
// For two seconds at least after its client has left, also beyond the timeout, if its upstream does
// not end it before. What is learned in place of that comes too late: it is of quick answers before
// the first slow request is abandoned, and of the time before the machine or the upstream became
// slow. Each hold that is too short puts as many requests more to work as there are slots. It costs
// little: an upstream that ends the request ends the hold, and one that never does makes it longer
// all the same (HoldTimes).
//
// Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

inline constexpr Duration kLeastPastLeaving = std::chrono::seconds(2);

// From when it was dispatched. `stayed`: for how long its client had waited. `usual`: what nearly
// all answers of its route need; nullopt: not known. `learned`: HoldTimes::of().
constexpr Duration hold_past_leaving(Duration stayed, std::optional<Duration> usual,
                                     Duration learned, Duration timeout) {
  const Duration least = stayed + kLeastPastLeaving;
  return std::min(std::max({usual.value_or(timeout), learned, least}), std::max(timeout, least));
}

}  // namespace spillway::dispatch
