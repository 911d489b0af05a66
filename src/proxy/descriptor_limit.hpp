// How many client connections the process has file descriptors for.
#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace spillway::proxy {

// Raises the soft limit of open files to the hard one, and returns how many client connections fit
// under it beside every upstream connection that may be needed: at most limits.connections, at
// least 1. So clients alone cannot use up the descriptors that serving them takes.
std::uint32_t affordable_connections(const config::Config& config, std::size_t workers);

}  // namespace spillway::proxy
