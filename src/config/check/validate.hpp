// Checks between fields, which no single field's description can state.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Adds every violation to `problems`, except about fields that have a problem already. `root` is
// the file of `config`: it tells written values from defaults. Switches off exit thresholds without
// an enter threshold, and sets max_entry_bytes where it is not given.
void validate(Config& config, const nlohmann::json& root, Problems& problems);

}  // namespace spillway::config
