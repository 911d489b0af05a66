// Honest requests of a made-up cell.
#pragma once

#include "bench/hostile/probes.hpp"

namespace spillway::hostile::test {

inline constexpr std::uint8_t kCounted = 1;  // the phase after the warm-up

inline void happen(Probes& probes, const load::Arrival& arrival, const load::Ending& ending,
                   Duration took, Duration late = {}) {
  const load::Attempt attempt{arrival};
  probes.sent(attempt, late);
  probes.ended(attempt, ending, took, false);
}

inline load::Ending ok() { return {.fate = load::Fate::ok}; }

}  // namespace spillway::hostile::test
