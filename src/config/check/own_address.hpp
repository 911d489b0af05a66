// Detects a server that is one of the proxy's own listeners: requests to the client listener would
// loop, and the admin listener is not meant for clients.
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
// loopback; a listener on them accepts connections to any loopback address and any current address
// of this machine's interfaces (0.0.0.0: only IPv4). Not detected: the port of a listener on port
// 0, and addresses that something else translates to this machine's.
bool is_own_address(const ListenAddress& listen, const IpAddress& address, std::uint16_t port);

// The same for a server as configured, "host:port", where the host is an address, also in an older
// notation that inet_aton(3) accepts (0x7f000001), or localhost; for a listener on 0.0.0.0 or ::,
// also this machine's own name (gethostname(2)). False for other names, since no name is resolved.
// Names below localhost (RFC 6761 section 6.3) do not count: a container may have such a name.
bool is_own_server(const ListenAddress& listen, std::string_view server);

}  // namespace spillway::config
