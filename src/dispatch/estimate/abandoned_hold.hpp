// The longest time that an abandoned request keeps its slot.
//
// At least two seconds after its client has left, even beyond the timeout, unless its upstream ends
// the request earlier. Learned values alone come too late: they reflect quick answers before the
// first slow request is abandoned, and the time before the machine or the upstream became slow.
// Each hold that is too short puts as many more requests to work as there are slots. This minimum
// costs little: an upstream that ends the request ends the hold, and one that never does prolongs
// it anyway (HoldTimes).
//
// Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

inline constexpr Duration kLeastPastLeaving = std::chrono::seconds(2);

// Measured from dispatch. `stayed`: how long its client had waited. `usual`: the time that nearly
// all answers of its route need; nullopt: not known. `learned`: HoldTimes::of().
constexpr Duration hold_past_leaving(Duration stayed, std::optional<Duration> usual,
                                     Duration learned, Duration timeout) {
  const Duration least = stayed + kLeastPastLeaving;
  return std::min(std::max({usual.value_or(timeout), learned, least}), std::max(timeout, least));
}

}  // namespace spillway::dispatch
