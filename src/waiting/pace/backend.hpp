// The upstream's state, as the waiting room gets it.
#pragma once

#include <cstdint>

namespace spillway::waiting {

// Whether newcomers are admitted. `held`: places cannot be stored, so none is let in at once, no
// ticket is made, and none is called. Places are kept, and sessions and calls go on.
enum class Newcomers : std::uint8_t { admitted, held };

// The state of the upstream and of the store, given to the waiting room at each tick.
struct Backend {
  bool is_overloaded = false;
  double pace = 1;  // EntryPace: at most Terms::active_sessions times this are called in a second
  Newcomers newcomers = Newcomers::admitted;  // not sent through a log
};

}  // namespace spillway::waiting
