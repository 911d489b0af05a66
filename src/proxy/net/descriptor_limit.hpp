// How many client connections the process has file descriptors for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::proxy {

// How many client connections fit under this limit of open files beside everything else that
// serving them takes: every upstream connection that may be needed (a reload leaves the slots as
// they are), a second descriptor for each tunnel, a health check at each server. At most
// limits.connections, at least 1. So clients alone cannot use up the descriptors.
std::uint32_t connections_within(std::uint64_t open_files, const config::Config& config,
                                 std::size_t workers);

// The same for this process, after raising its soft limit of open files to the hard one.
std::uint32_t affordable_connections(const config::Config& config, std::size_t workers);

}  // namespace spillway::proxy
