// What the kernel knows of TCP connections: the payload that they carried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace spillway::hostile {

// Bytes that the connection of this descriptor has sent and received; nullopt: it is none.
std::optional<std::uint64_t> bytes_of(int descriptor);

// The same of each connection from 127.0.0.1 to this loopback port, by the kernel's number of it:
// those of another process. Empty if the kernel does not tell (NETLINK_SOCK_DIAG).
std::map<std::uint64_t, std::uint64_t> connections_to(std::uint16_t port);

}  // namespace spillway::hostile
