// Which keys a reload may change: all but those that are fixed at start.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// The changed keys that need a restart. Empty: `wanted` can take effect. `has_store`: the store of
// deferred requests is open, even if no running route defers.
Problems needs_restart(const Config& running, const Config& wanted, bool has_store);

// A waiting room is identified by the name of its route, also in its visitors' cookies: this is a
// route with a waiting room whose name differs in `wanted`, with the same match. Indices of routes.
struct RenamedWaitingRoom {
  std::size_t running = 0;
  std::size_t wanted = 0;
};
std::vector<RenamedWaitingRoom> renamed_waiting_rooms(const Config& running, const Config& wanted);

}  // namespace spillway::config
