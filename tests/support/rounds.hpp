// How many rounds a test plays that finds the more the more it plays.
#pragma once

#include <cstdlib>

namespace spillway::support {

// A quarter of `all`, or all with SPILLWAY_ALL_ROUNDS in the environment, as the nightly run has.
inline int rounds_of(int all) {
  return std::getenv("SPILLWAY_ALL_ROUNDS") != nullptr ? all : all / 4;
}

}  // namespace spillway::support
