// One core for a thread, where the machine has it.
#pragma once

#include <sched.h>

namespace spillway::bench {

// The proxy's, and that of the load and the backend.
inline constexpr int kProxyCore = 0;
inline constexpr int kLoadCore = 1;
inline constexpr int kAnyCore = -1;

// Keeps the calling thread on a core. False: it stays where it was, there is no such core.
inline bool pin_to(int core) {
  if (core == kAnyCore) return false;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(core), &cores);
  return sched_setaffinity(0, sizeof cores, &cores) == 0;
}

}  // namespace spillway::bench
