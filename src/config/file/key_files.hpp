// Reads the keys in the files that a configuration names: those with which waiting rooms sign what
// they tell upstreams and webhooks, and those of trusted_tokens. That of the store is not among
// them.
//
// Not part of load(): a user that looks at a configuration need not be allowed to read its keys.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// A file that cannot be used is a problem. Names are relative to Store::directory.
void read_key_files(Config& config, Problems& problems);

// Reads the keys of trusted_tokens alone.
void read_token_keys(Config& config, Problems& problems);

}  // namespace spillway::config
