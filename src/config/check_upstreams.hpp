// What must hold of an upstream's servers and of how their failures are dealt with.
#pragma once

#include "config/config.hpp"
#include "config/findings.hpp"

namespace spillway::config {

void check_upstreams(const Config& config, Findings& findings);

}  // namespace spillway::config
