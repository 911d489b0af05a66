// Constants that the source files of PairedDither share.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::overload::dither {

// The shortest phase, and the fewest successes in one.
inline constexpr Duration kShortest = std::chrono::milliseconds(300);
inline constexpr double kFewest = 20;  // successes
// Until the requests of the former limit have ended: this many times the time a slot is held.
inline constexpr double kSettles = 1.2;
// After this long without a queue, the limit does not bind.
inline constexpr Duration kIdle = std::chrono::seconds(1);
// Steps stay small for this long after a brake, when a step too far up would cause another brake,
// and after a slow step of the climb that did not help.
inline constexpr Duration kCarefulFor = std::chrono::seconds(30);
// The assumed error of a number that was found in another way (Knee::suppose).
inline constexpr double kRestartSpread = 0.4;
inline constexpr double kFirstSpread = 1.2;

// After a cut: the time without evidence about the clients, where few slots are given back, after
// which the cut stands or is taken back.
inline constexpr double kNoEvidence = 60;  // seconds

inline std::uint32_t rounded(double limit) {
  return static_cast<std::uint32_t>(std::lround(limit));
}

}  // namespace spillway::overload::dither
