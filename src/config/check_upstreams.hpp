// Checks an upstream's servers and the keys about their failures.
#pragma once

#include "config/config.hpp"
#include "config/findings.hpp"

namespace spillway::config {

void check_upstreams(const Config& config, Findings& findings);

}  // namespace spillway::config
