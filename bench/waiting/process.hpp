// What a process has used, from /proc (proc(5)).
#pragma once

#include <sys/types.h>

#include "base/time.hpp"

namespace spillway::waiting_bench {

// User and system time of all its threads, in ticks of 10 ms. Throws std::runtime_error if it has
// ended.
Duration cpu_of(pid_t process);
// Its resident memory.
double memory_kib_of(pid_t process);

}  // namespace spillway::waiting_bench
