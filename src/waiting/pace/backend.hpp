// What a waiting room learns of what is behind it.
#pragma once

#include <cstdint>

namespace spillway::waiting {

// What becomes of newcomers. `held`: places cannot be written down: none is let in at once, no
// ticket is made, and none is called. Places are kept, and sessions and calls go on.
enum class Newcomers : std::uint8_t { admitted, held };

// What the waiting room learns of what is behind it, each tick.
struct Backend {
  bool is_overloaded = false;
  double pace = 1;  // EntryPace: Terms::active_sessions times this is the most calls in a second
  Newcomers newcomers = Newcomers::admitted;  // not of a log
};

}  // namespace spillway::waiting
