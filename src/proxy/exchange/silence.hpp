// Which connections are closed first when connections run out (a full house: limits.connections
// are open, or no descriptor is left): those whose clients are silent, and whose requests hold no
// slot.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.hpp"

namespace spillway::proxy {

// How long a client may be silent then that waits for nothing, or that is to send something.
inline constexpr Milliseconds kFullHousePatience{1000};
// And a client that is to take its response: it stalls for longer when its network does.
inline constexpr Milliseconds kFullHouseTakersPatience{5000};

struct Silence {
  // What the connection is at. The earlier ones go first: their end costs the client less.
  enum class At : std::uint8_t {
    nothing,   // it is served, or idle (ClientConnection closes that)
    answered,  // what is left of its request is read and thrown away
    head,
    body,      // which is read before a slot is taken
    response,  // it takes none of it
  };

  At at = At::nothing;
  TimePoint gives_way_from = kNever;

  bool gives_way(TimePoint now) const { return at != At::nothing && gives_way_from <= now; }
  // If both give way this one goes first.
  friend bool operator<(const Silence& a, const Silence& b) {
    return std::tie(a.at, a.gives_way_from) < std::tie(b.at, b.gives_way_from);
  }
};

}  // namespace spillway::proxy
