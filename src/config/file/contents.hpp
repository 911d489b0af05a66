// Loads the texts of fallback responses from the configuration or the files that it names, and the
// pages of waiting rooms.
#pragma once

#include <filesystem>

#include "config/config.hpp"
#include "config/problem.hpp"

namespace spillway::config {

// Sets the `text` of every Content, and every WaitingPage::own. Files must be regular, of up to
// kMaxContentBytes (a page of up to kMaxPageBytes), relative to `directory`; an unreadable file, an
// empty text, a `json` text that is not JSON and a bad template are problems.
void read_contents(Config& config, const std::filesystem::path& directory, Problems& problems);

}  // namespace spillway::config
