// What a configuration may say and is perhaps not meant to: `spillway check` and the start name it.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

Problems warnings(const Config& config);

}  // namespace spillway::config
