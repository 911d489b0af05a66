// How many client connections, tunnels and temporary files the process has file descriptors for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::proxy {

struct Affordable {
  std::uint32_t connections = 0;  // between 1 and limits.connections
  std::uint32_t temp_files = 0;   // each of them belongs to a connection
  std::uint32_t tunnels = 0;      // config::tunnels_among() those connections
  std::uint64_t open_files = 0;   // the limit found; 0: there is no limit
};

// What fits under a limit of open files (RLIMIT_NOFILE), beside the process's own descriptors,
// every upstream connection that dispatch may need (a reload keeps the number of slots), a second
// descriptor for each tunnel and a health check of each server. With `"concurrency": "auto"` its
// `max` counts, but at most half of the rest: the limit in force is seldom near it, and idle
// connections follow that. An eighth of what is then left is for temporary files. So neither
// clients alone nor requests that wait for them can use up the descriptors. If little is left,
// clients get a quarter of all descriptors but a few, since the other uses grow with their number.
Affordable affordable_within(std::uint64_t open_files, const config::Config& config,
                             std::size_t workers);

// The smallest limit of open files with which all of limits.connections fit.
std::uint64_t open_files_for_all(const config::Config& config, std::size_t workers);

// What fits under the limit of this process. First raises its soft limit of open files to the hard
// limit.
Affordable affordable(const config::Config& config, std::size_t workers);

}  // namespace spillway::proxy
