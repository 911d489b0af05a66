// The maximum number of tunnels and event streams.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::config {

// For this many client connections: half, but at least one, as each ends only when one of its sides
// ends it, and with more of them no other clients would be accepted.
inline std::uint32_t tunnels_among(std::uint32_t connections, const Limits& limits) {
  return std::min(limits.tunnels, std::max(connections / 2, 1u));
}

}  // namespace spillway::config
