// The constants that both source files of PairedDither use.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::overload::dither {

// How long a phase lasts at least, and how much it sees.
inline constexpr Duration kShortest = std::chrono::milliseconds(300);
inline constexpr double kFewest = 20;  // successes
// Times as long as a request holds its slot, until those of the former limit are gone.
inline constexpr double kSettles = 1.2;
// Without a queue for so long, the limit does not bind.
inline constexpr Duration kIdle = std::chrono::seconds(1);
// Steps are small for so long after a brake, for which a step too far up would be answered by
// another one, and after a slow step of the climb in vain.
inline constexpr Duration kCarefulFor = std::chrono::seconds(30);
// How far off a number may be that was found in another way (Knee::suppose).
inline constexpr double kRestartSpread = 0.4;
inline constexpr double kFirstSpread = 1.2;

// After a cut, without a verdict of the clients, and where few slots are given back: then it
// stands, or is taken back.
inline constexpr double kNoEvidence = 60;  // seconds

inline std::uint32_t rounded(double limit) {
  return static_cast<std::uint32_t>(std::lround(limit));
}

}  // namespace spillway::overload::dither
