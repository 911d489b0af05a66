// How much a test plays that finds the more the more it plays.
#pragma once

#include <cstdlib>

namespace spillway::support {

// SPILLWAY_ALL_ROUNDS is in the environment, as in the nightly run: all is played, comparisons with
// other proxies included.
inline bool plays_all_rounds() { return std::getenv("SPILLWAY_ALL_ROUNDS") != nullptr; }

// A quarter of `all`, or all of them.
inline int rounds_of(int all) { return plays_all_rounds() ? all : all / 4; }

}  // namespace spillway::support
