// A client of the matrix in a tunnel or an event stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "system/faults/asking.hpp"

namespace spillway::faults {

// Asks for an upgrade and talks in it. "echoed": its own line came back; "ended": the other side
// closed in order; "broken": by a reset; "502", "503", ...: not switched; "hangs": nothing in time;
// else "WRONG: ...". `leaves`: goes in one of three ways, by its number, once switched, with what
// it has just sent on the way.
Outcome tunnel(std::uint16_t port, const std::string& target, std::size_t number,
               bool leaves = false);

// Asks for an event stream. "event": the first came and it closed; "aborted": the stream broke off
// after it, so that it is not taken for whole; "ended": in order; others as for tunnel().
enum class Until { event, end };
Outcome listen_to_events(std::uint16_t port, const std::string& target, std::size_t number,
                         Until until);

}  // namespace spillway::faults
