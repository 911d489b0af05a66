// Copies the state of a generation's upstreams, for /metrics and /state.
#pragma once

#include "observe/snapshot/snapshot.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

// Fills in the upstreams, in configuration order. `with_dead_letters`: also copies their texts;
// workers may have to wait for the lock meanwhile.
void read_upstreams(Generation& generation, bool with_dead_letters, observe::Snapshot& snapshot);

}  // namespace spillway::proxy
