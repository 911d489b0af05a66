// Whether a run showed what Spillway promises: the important work got through because the
// unimportant work was told to come back later, or was done later.
#pragma once

#include <cstddef>
#include <optional>

#include "tally.hpp"

namespace spillway::demo {

inline constexpr double kImportantWorkKept = 0.99;

// True when at least 99 % of the highest class succeeded, during the phase `spike` and over
// the whole run, some of the lowest class was denied or deferred during the spike, and all that was
// deferred has been done.
inline bool kept_its_promise(const Tally& tally, std::size_t spike) {
  const Counts& important = tally.phase(spike).front();
  const std::optional<Backlog>& backlog = tally.backlog();
  return important.ended() > 0 && important.ok_share() >= kImportantWorkKept &&
         tally.whole_run(0).ok_share() >= kImportantWorkKept &&
         tally.phase(spike).back().denied + tally.phase(spike).back().deferred > 0 &&
         (!backlog || backlog->empty_after);
}

}  // namespace spillway::demo
