// The first members of each log line.
#pragma once

#include <string_view>

#include "observe/log/json_line.hpp"
#include "observe/log/log.hpp"

namespace spillway::observe {

JsonLine event(Level level, std::string_view what);

}  // namespace spillway::observe
