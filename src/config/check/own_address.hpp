// Detects a server that is one of the proxy's own listeners: requests to the one for clients would
// loop, and the admin listener is not for clients.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "config/config.hpp"

namespace spillway::config {

struct ListenAddress {
  std::string_view address;
  std::uint16_t port = 0;
};
inline ListenAddress address_of(const Listen& listen) { return {listen.address, listen.port}; }
inline ListenAddress address_of(const Admin& admin) { return {admin.address, admin.port}; }

// Whether a connection to that address and port arrives at this listener. 0.0.0.0 and :: lead to
// loopback; a listener on them takes what comes for any loopback address and any address of this
// machine's interfaces, as they are now (0.0.0.0: of IPv4). The port of a listener on port 0 is not
// known here, nor are addresses that something else translates to this machine's.
bool is_own_address(const ListenAddress& listen, const IpAddress& address, std::uint16_t port);

// The same for a server as configured, "host:port", where the host is an address, also in one of
// the older notations that inet_aton(3) reads (0x7f000001), or localhost; this machine's own name
// (gethostname(2)) for a listener on 0.0.0.0 or ::. False for other names: no name is resolved.
// Those below localhost (RFC 6761 section 6.3) do not count: a container may have such a name.
bool is_own_server(const ListenAddress& listen, std::string_view server);

}  // namespace spillway::config
