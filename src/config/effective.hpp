// The configuration as it is in force: every key with its value, defaults filled in.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"

namespace spillway::config {

// Loading its text gives the same configuration again, unless it had an admin token: secrets are
// replaced by a text that is not accepted as one.
nlohmann::ordered_json effective(const Config& config);

}  // namespace spillway::config
