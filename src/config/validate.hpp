// What must hold between fields: the rules that no single field's description can state.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Adds every broken rule to `problems`, except where a field it depends on is already there. `root`
// is the file `config` was read from: it tells what was written from what was filled in. Exit
// thresholds without an enter threshold are switched off, as they take no part, and an entry of a
// cache is bounded to an eighth of it where the file does not say how long it may be.
void validate(Config& config, const nlohmann::json& root, Problems& problems);

}  // namespace spillway::config
