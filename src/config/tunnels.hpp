// How many tunnels and event streams there may be.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::config {

// Among so many client connections: half, but one at least, as each ends only when one of its ends
// wants it to, and with more of them no other client would be accepted.
inline std::uint32_t tunnels_among(std::uint32_t connections, const Limits& limits) {
  return std::min(limits.tunnels, std::max(connections / 2, 1u));
}

}  // namespace spillway::config
