// A generation as it is at this moment, copied for one page.
#pragma once

#include "observe/snapshot.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

// Fills in the upstreams, in the configuration's order. The texts of dead letters are copied only
// for who shows them: workers wait meanwhile.
void read_upstreams(Generation& generation, bool with_dead_letters, observe::Snapshot& snapshot);

}  // namespace spillway::proxy
