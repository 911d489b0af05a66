// Semantic checks of `store`, `jobs` and the routes' `defer`.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

void check_defer(const Config& config, Findings& findings);

}  // namespace spillway::config
