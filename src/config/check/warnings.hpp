// Valid settings that are perhaps not intended: `spillway check` and the start report them.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

Problems warnings(const Config& config);

}  // namespace spillway::config
