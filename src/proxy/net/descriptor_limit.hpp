// How many client connections, tunnels and temporary files the process has file descriptors for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/config.hpp"

namespace spillway::proxy {

struct Affordable {
  std::uint32_t connections = 0;  // between 1 and limits.connections
  std::uint32_t temp_files = 0;   // of which each belongs to a connection
  std::uint32_t tunnels = 0;      // config::tunnels_among() them
  std::uint64_t open_files = 0;   // the limit found; 0: there is none
};

// What fits under a limit of open files (RLIMIT_NOFILE), beside the process's own descriptors,
// every upstream connection that dispatch may need (a reload keeps the number of slots), a second
// descriptor for each tunnel and a health check of each server. For `"concurrency": "auto"` that is
// its `max`, but at most half of what is left: a limit that is found is seldom near it, and idle
// connections follow the limit in force. An eighth of what is then left is for temporary files. So
// neither clients alone nor what waits for them can use up the descriptors. Where little is left,
// clients get a quarter of all descriptors but a few, since the other uses grow with their number.
Affordable affordable_within(std::uint64_t open_files, const config::Config& config,
                             std::size_t workers);

// The least limit of open files with which all of limits.connections fit.
std::uint64_t open_files_for_all(const config::Config& config, std::size_t workers);

// What fits under the limit of this process. Raises its soft limit of open files to the hard limit
// first.
Affordable affordable(const config::Config& config, std::size_t workers);

}  // namespace spillway::proxy
