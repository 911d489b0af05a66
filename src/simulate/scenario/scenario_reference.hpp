// The table of every key of a scenario file, for its documentation.
#pragma once

#include <string>

namespace spillway::simulate {

std::string scenario_reference();  // Markdown

}  // namespace spillway::simulate
