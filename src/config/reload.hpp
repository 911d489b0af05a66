// What a configuration may change while it is in effect: everything but what is bound or sized
// once, at start.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// The keys that are not as they are running: each takes a restart. Empty: `wanted` can take over.
Problems needs_restart(const Config& running, const Config& wanted);

}  // namespace spillway::config
