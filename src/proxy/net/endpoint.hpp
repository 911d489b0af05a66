// The address of an upstream's server, and non-blocking connection attempts to it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

namespace spillway::proxy {

struct Endpoint {
  std::string name;  // as configured, "host:port"
  boost::asio::ip::tcp::endpoint address;
};

// Resolves "host:port" or "[v6]:port" and takes the first address. Blocks, so it is called only
// when a configuration is read. Throws std::runtime_error that says why if there is no address.
Endpoint resolve(const std::string& server);

// A non-blocking connection attempt (connect(2)). Unless it is connected or failed at once, the
// descriptor becomes writable when the outcome is known: see connect_error().
struct ConnectAttempt {
  int descriptor = -1;  // -1: failed at once
  bool connected = false;
  int error = 0;  // errno value if it failed at once
};
ConnectAttempt begin_connect(const Endpoint& endpoint);

// The outcome of a connection attempt that became writable: 0, or an errno value.
int connect_error(int descriptor);

// Whether the error says nothing about the server: this process or machine has no descriptor, port
// or memory left for one more connection.
bool is_local_shortage(int error);

// The text of an errno value, e.g. "Connection refused"; static storage.
std::string_view describe(int error);

}  // namespace spillway::proxy
