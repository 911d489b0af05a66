// Which keys a reload may change: all but those bound or sized at start.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// The changed keys that need a restart. Empty: `wanted` can take effect. `has_store`: that of
// deferred requests is open, also if no running route defers.
Problems needs_restart(const Config& running, const Config& wanted, bool has_store);

}  // namespace spillway::config
