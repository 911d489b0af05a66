// How many client connections the process has file descriptors for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::proxy {

// How many client connections fit under a limit of open files (RLIMIT_NOFILE), beside the process's
// own descriptors, every upstream connection that dispatch may need (a reload keeps the number of
// slots), a second descriptor for each tunnel and a health check of each server. Between 1 and
// limits.connections. So clients alone cannot use up the descriptors.
std::uint32_t connections_within(std::uint64_t open_files, const config::Config& config,
                                 std::size_t workers);

// The same for this process. Raises its soft limit of open files to the hard limit first.
std::uint32_t affordable_connections(const config::Config& config, std::size_t workers);

}  // namespace spillway::proxy
