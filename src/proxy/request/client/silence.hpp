// Which connections are closed first while clients wait at the connection limit (limits.connections
// are open, or no descriptor is left): those whose clients are silent, and whose requests hold no
// slot.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.hpp"

namespace spillway::proxy {

// The longest silence while the client owes bytes, or waits for nothing.
inline constexpr Milliseconds kLongestClientSilence{1000};
// The longest stall while it receives; longer because its network may stall.
inline constexpr Milliseconds kLongestClientStall{5000};

struct Silence {
  // The state of the connection. Earlier ones are closed first: the client loses less by it.
  enum class At : std::uint8_t {
    nothing,   // it is being served, or idle (ClientConnection closes idle ones)
    answered,  // the rest of its request is read and discarded
    head,
    body,      // the body is being read before a slot is taken
    response,  // the client takes no byte of it
  };

  At at = At::nothing;
  TimePoint gives_way_from = kNever;

  bool gives_way(TimePoint now) const { return at != At::nothing && gives_way_from <= now; }
  // If both could be closed, this one is closed first.
  friend bool operator<(const Silence& a, const Silence& b) {
    return std::tie(a.at, a.gives_way_from) < std::tie(b.at, b.gives_way_from);
  }
};

}  // namespace spillway::proxy
