// Checks an upstream's servers and the keys about their failures.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

// Also sets health_check.timeout_ms, where not given, to at most interval_ms.
void check_upstreams(Config& config, Findings& findings);

}  // namespace spillway::config
