// One core for a thread, where the machine has it.
#pragma once

#include <sched.h>

namespace spillway::bench {

// The proxy's, and that of the load and the backend. Without a second core nothing is pinned.
inline constexpr int kProxyCore = 0;
inline constexpr int kLoadCore = 1;

// Of the calling thread. False: not possible.
inline bool pin_to(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(core), &cores);
  return sched_setaffinity(0, sizeof cores, &cores) == 0;
}

}  // namespace spillway::bench
