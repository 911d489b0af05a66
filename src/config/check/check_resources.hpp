// Semantic checks of what a waiting room hands out.
#pragma once

#include <string>

#include "config/check/findings.hpp"
#include "config/waiting_room.hpp"

namespace spillway::config {

// `path`: of the waiting room.
void check_resources(const WaitingRoom& room, const std::string& path, Findings& findings);

}  // namespace spillway::config
