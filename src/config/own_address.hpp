// Whether a server is the listener itself: requests would come back until nothing is left.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "config/config.hpp"

namespace spillway::config {

// Whether a connection to that address and port arrives at this listener. 0.0.0.0 and :: lead to
// loopback; a listener on them takes what comes for any loopback address (0.0.0.0: of IPv4). That
// it takes what comes for other addresses of this machine, too, is not known here. A listener on
// port 0 is on a port that nobody knows yet.
bool is_own_address(const Listen& listen, const IpAddress& address, std::uint16_t port);

// The same of a server as it is written, "host:port", where the host is an address or "localhost";
// false for other names.
bool is_own_server(const Listen& listen, std::string_view server);

}  // namespace spillway::config
