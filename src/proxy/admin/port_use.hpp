// What uses a port that cannot be bound.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>

namespace spillway::proxy {

enum class PortUse : std::uint8_t {
  nothing,           // no longer
  draining_process,  // the admin listener of a draining Spillway: it ends soon
  another,
};

// Requests /readyz; takes at most half a second.
PortUse port_use(const boost::asio::ip::tcp::endpoint& port);

}  // namespace spillway::proxy
