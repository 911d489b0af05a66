// What proxies tell each other through LISTEN and NOTIFY: that there are jobs in a lane.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jobs/job.hpp"

namespace spillway::store {

// nullopt: it is too long to be told.
std::optional<std::string> announcement(const jobs::Lane& lane);
// nullopt: another program's, or of another version.
std::optional<jobs::Lane> read_announcement(std::string_view text);

}  // namespace spillway::store
