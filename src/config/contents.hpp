// Loads the texts of fallback answers from the configuration or the files that it names.
#pragma once

#include <filesystem>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Sets the `text` of every Content. Files are regular ones of up to kMaxContentBytes, relative to
// `directory`; a file that cannot be read, an empty text and a `json` text that is not JSON are
// problems.
void read_contents(Config& config, const std::filesystem::path& directory, Problems& problems);

}  // namespace spillway::config
