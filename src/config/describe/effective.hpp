// The effective configuration: every key with its value, defaults filled in.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"

namespace spillway::config {

// Loading the result gives the same configuration, unless there were secrets: they are replaced by
// a text that is not accepted as a secret.
nlohmann::ordered_json effective(const Config& config);

}  // namespace spillway::config
