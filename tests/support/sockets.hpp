// Sockets of loopback as the programs of the tests use them.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/event.hpp"

namespace spillway::support {

enum class Sent { all, late, broken };
// All of it through a socket, whether it blocks or not, unless the deadline passes or the
// connection breaks before.
Sent send_all(int socket, std::string_view bytes, const Deadline& deadline);

// A non-blocking socket bound to a port of 127.0.0.1, 0 for a free one, which may have been in use
// just now. Throws std::system_error.
int bind_to_loopback(std::uint16_t port);
std::uint16_t port_of(int socket);
// A non-blocking socket that listens on a free port. Throws std::system_error.
int listen_on_loopback();
// A blocking socket connected to a port of 127.0.0.1, that sends at once. Throws std::system_error.
int connect_to_loopback(std::uint16_t port);

}  // namespace spillway::support
