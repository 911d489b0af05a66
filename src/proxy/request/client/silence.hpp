// Which connections are closed first while clients wait at the connection limit
// (limits.connections are open, or no descriptor is left): those whose clients are silent, and
// whose requests hold no slot.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.hpp"

namespace spillway::proxy {

// Longest silence while the client owes bytes, or waits for nothing.
inline constexpr Milliseconds kLongestClientSilence{1000};
// Longest stall while it receives: it stalls for longer when its network does.
inline constexpr Milliseconds kLongestClientStall{5000};

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
