// Real curl with the given arguments: silent, without a .curlrc or proxy of the environment.
#pragma once

#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace spillway::support {

inline Finished curl(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"curl",      "-q", "--silent",   "--show-error",
                               "--noproxy", "*",  "--max-time", "50"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run(all);
}

}  // namespace spillway::support
