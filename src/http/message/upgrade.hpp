// Protocol upgrade (RFC 9110 section 7.8).
//
// Upgrade is hop-by-hop: the client's offer is not forwarded; the upstream is asked for one allowed
// protocol, and a 101 is accepted only if it names that protocol.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/message/head.hpp"

namespace spillway::http {

// The first protocol that the client offers and `allowed` names (in lower case, in any version), as
// the client wrote it, e.g. "websocket"; empty: none. Only for a GET in HTTP/1.1 without a body,
// with an "upgrade" option in Connection. Never h2c: its requests would bypass the gate. Call it
// after request_framing() has succeeded.
std::string_view offered_upgrade(const RequestHead& head, std::span<const std::string> allowed);

// Whether a response with status 101 switches to exactly this protocol.
bool switches_to(const ResponseHead& head, std::string_view protocol);

}  // namespace spillway::http
