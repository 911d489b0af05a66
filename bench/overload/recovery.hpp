// Time from the end of a disturbance to recovery.
#pragma once

#include <optional>
#include <span>

#include "base/time.hpp"
#include "bench/overload/cell_tally.hpp"

namespace spillway::bench {

// Recovered: in a whole second attempts succeed at 90 % of the share before the disturbance.
inline constexpr double kRecoveredShare = 0.9;

struct Recovery {
  double seconds = 0;       // from the end of the disturbance to the first such second, in tenths
  bool within_cell = true;  // false: `seconds` is the rest of the cell
};

// `tenths` of a cell that was disturbed from `from` to `until` and sent its last request at `end`,
// all since its start. nullopt: nothing succeeded before, so there is nothing to return to.
std::optional<Recovery> recovery(std::span<const Tenth> tenths, Duration from, Duration until,
                                 Duration end);

}  // namespace spillway::bench
