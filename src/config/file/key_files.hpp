// Reads the key files that a configuration names: the keys with which waiting rooms sign their
// messages to upstreams and webhooks, and the keys of trusted_tokens. The key of the store is not
// read here.
//
// Not part of load(): a user that inspects a configuration need not be allowed to read its keys.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// An unusable file is a problem. Names are relative to Store::directory.
void read_key_files(Config& config, Problems& problems);

// Reads only the keys of trusted_tokens.
void read_token_keys(Config& config, Problems& problems);

}  // namespace spillway::config
