// Semantic checks of the routes' `waiting_room`.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

void check_waiting_rooms(const Config& config, Findings& findings);

}  // namespace spillway::config
