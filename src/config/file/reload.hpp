// Which keys a reload may change: all but those bound or sized at start.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// The changed keys that need a restart. Empty: `wanted` can take effect. `has_store`: that of
// deferred requests is open, also if no running route defers.
Problems needs_restart(const Config& running, const Config& wanted, bool has_store);

// A waiting room goes by the name of its route, in the cookies of its visitors, too: a route with
// one that has another name in `wanted`, and the same match. Numbers of routes.
struct RenamedWaitingRoom {
  std::size_t running = 0;
  std::size_t wanted = 0;
};
std::vector<RenamedWaitingRoom> renamed_waiting_rooms(const Config& running, const Config& wanted);

}  // namespace spillway::config
