// The path of a request as the access log shows it.
#pragma once

#include <cstddef>
#include <string_view>

namespace spillway::proxy {

// Cuts the path of a job after the first half of its id, since the whole id is the permission to
// read the job. `own_path`: from the configuration, may be empty.
inline std::string_view logged_path(std::string_view path, std::string_view own_path) {
  constexpr std::string_view kJobs = "/jobs/";
  constexpr std::size_t kShown = 16;
  const bool is_job = !own_path.empty() && path.starts_with(own_path) &&
                      path.substr(own_path.size()).starts_with(kJobs);
  return is_job ? path.substr(0, own_path.size() + kJobs.size() + kShown) : path;
}

}  // namespace spillway::proxy
