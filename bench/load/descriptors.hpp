// The file descriptors this process may have open.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace spillway::load {

// Raises the soft limit to the hard limit and returns the limit then in force.
inline std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace spillway::load
