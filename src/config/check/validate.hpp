// Checks between fields, which no single field's description can state.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Adds every violation to `problems`, except for fields that already have a problem. `root` is the
// JSON of `config`: it shows which values were written and which are defaults. Switches off exit
// thresholds without an enter threshold, and sets max_entry_bytes if it is not given.
void validate(Config& config, const nlohmann::json& root, Problems& problems);

}  // namespace spillway::config
