// What has a port that cannot be bound.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>

namespace spillway::proxy {

enum class PortUse : std::uint8_t {
  nothing,           // now
  draining_process,  // the admin listener of a Spillway that drains: it ends soon
  another,
};

// Asks for /readyz, for half a second at most.
PortUse port_use(const boost::asio::ip::tcp::endpoint& port);

}  // namespace spillway::proxy
