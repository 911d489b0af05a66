// Copies the state of a generation's upstreams, for /metrics and /state.
#pragma once

#include "observe/snapshot/snapshot.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

// Fills in the upstreams, in the order of the configuration. `with_dead_letters`: copy their texts
// too; workers may wait for the lock meanwhile.
void read_upstreams(Generation& generation, bool with_dead_letters, observe::Snapshot& snapshot);

}  // namespace spillway::proxy
