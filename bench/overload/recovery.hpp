// How long it takes after a disturbance until it is as it was before.
#pragma once

#include <optional>
#include <span>

#include "base/time.hpp"
#include "bench/overload/cell_tally.hpp"

namespace spillway::bench {

// Recovered is who in a whole second succeeds at 90 % of the share at which attempts succeeded
// before.
inline constexpr double kRecoveredShare = 0.9;

struct Recovery {
  double seconds = 0;       // from the end of the disturbance to the first such second, in tenths
  bool within_cell = true;  // false: `seconds` is all that was watched
};

// `tenths` of a cell that was disturbed from `from` to `until` and sent its last request at `end`,
// all since its start. nullopt: nothing succeeded before, so there is nothing to return to.
std::optional<Recovery> recovery(std::span<const Tenth> tenths, Duration from, Duration until,
                                 Duration end);

}  // namespace spillway::bench
