// The keys with which waiting rooms sign what they tell the upstream.
#pragma once

#include "proxy/generation/read_configuration.hpp"

namespace spillway::proxy {

// Reads waiting_room.proof_key_file of each route. A file that cannot be used is a problem, and
// then there is no configuration.
void read_proof_keys(ReadConfiguration& read);

}  // namespace spillway::proxy
