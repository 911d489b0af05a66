// Plays one case on the wire.
#pragma once

#include <cstdint>

#include "support/event.hpp"
#include "system/wire/backend.hpp"
#include "system/wire/case.hpp"

namespace spillway::conformance {

// What came of it at the proxy on this port of 127.0.0.1, which has this backend. `patience`: how
// long the client waits for what is due.
Seen play(const Case& play, std::uint16_t port, Backend& backend, support::Milliseconds patience);

}  // namespace spillway::conformance
