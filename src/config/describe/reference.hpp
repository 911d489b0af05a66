// The table of every key for config/README.md.
#pragma once

#include <string>

namespace spillway::config {

// Markdown: key, default, allowed values, meaning; one line for each key.
std::string reference_table();

}  // namespace spillway::config
