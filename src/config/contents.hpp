// The texts of prepared answers: what stands in the configuration, or in the files that it names.
#pragma once

#include <filesystem>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Sets the `text` of every Content. Files are regular ones of up to kMaxContentBytes, relative to
// `directory`; whatever cannot be read, is empty or, for clients of JSON, is not JSON is a problem.
void read_contents(Config& config, const std::filesystem::path& directory, Problems& problems);

}  // namespace spillway::config
