// What a client's connection costs that holds a place without earning it, and from when on it gives
// way to others in a full house. Its request holds no slot.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.hpp"

namespace spillway::proxy {

// In a full house a client that waits for nothing, or that is to send something, has so much time.
inline constexpr Milliseconds kFullHousePatience{1000};
// And one that is to take its response: it stalls for longer when its network does.
inline constexpr Milliseconds kFullHouseTakersPatience{5000};

struct Silence {
  // What it is at; the one whose end costs its client least comes first.
  enum class At : std::uint8_t {
    nothing,   // it is served, or it is idle, which ClientConnection knows
    answered,  // what is left of its request is read and thrown away
    head,
    body,      // which is read before a slot is taken
    response,  // it takes none of it
  };

  At at = At::nothing;
  TimePoint gives_way_from = kNever;

  bool gives_way(TimePoint now) const { return at != At::nothing && gives_way_from <= now; }
  // Of two that give way this one goes first.
  friend bool operator<(const Silence& a, const Silence& b) {
    return std::tie(a.at, a.gives_way_from) < std::tie(b.at, b.gives_way_from);
  }
};

}  // namespace spillway::proxy
