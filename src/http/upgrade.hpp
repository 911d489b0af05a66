// Switching a connection to another protocol (RFC 9110 section 7.8).
//
// Both ends of the switch are at this hop: what the client offers is not simply passed on, one of
// the protocols is asked for, and a 101 only counts if it names that one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/head.hpp"

namespace spillway::http {

// The first protocol that the client offers and `allowed` names (in lower case, whatever its
// version), as the client wrote it, e.g. "websocket"; empty: none. Only of a GET in HTTP/1.1
// without body whose Connection says "upgrade". Never h2c: two parties would read what follows
// differently, and past the gate. Call it once request_framing() has succeeded.
std::string_view offered_upgrade(const RequestHead& head, std::span<const std::string> allowed);

// Whether a response of status 101 switches to that protocol and no other.
bool switches_to(const ResponseHead& head, std::string_view protocol);

}  // namespace spillway::http
