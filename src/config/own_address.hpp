// Detects a server that is the proxy's own listener: its requests would loop.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "config/config.hpp"

namespace spillway::config {

// Whether a connection to that address and port arrives at this listener. 0.0.0.0 and :: lead to
// loopback; a listener on them takes what comes for any loopback address (0.0.0.0: of IPv4). Other
// addresses of this machine are not known here, nor is the port of a listener on port 0.
bool is_own_address(const Listen& listen, const IpAddress& address, std::uint16_t port);

// The same for a server as configured, "host:port", where the host is an address or "localhost";
// false for other names.
bool is_own_server(const Listen& listen, std::string_view server);

}  // namespace spillway::config
