// What the proxy's system calls meet in place of the system (linked with --wrap, see
// tests/fuzz/CMakeLists.txt): a clock that only the script moves, and a network of socket pairs.
//
// A pair hands over bytes within the system call, needs no port, and leaves nothing in TIME_WAIT.
#pragma once

#include <functional>

#include "base/time.hpp"

namespace spillway::fuzz {

// The time that the proxy reads. Begins later than any deadline of the real clock, so that threads
// which wait by the real one are not woken.
TimePoint simulated_now();
void advance_clock(Duration by);

// Called for each connect(2) with the other end of the connection; false refuses it. Empty: refuses
// all.
using OnConnect = std::function<bool(int its_end)>;
void set_on_connect(OnConnect on_connect);
// Called when a descriptor is set to be reset by close(2) (SO_LINGER), which a pair cannot show.
using OnReset = std::function<void(int descriptor)>;
void set_on_reset(OnReset on_reset);

struct Pair {
  int proxys;
  int other;
};
// Non-blocking; throws std::system_error.
Pair new_pair();

}  // namespace spillway::fuzz
