// The addresses of an upstream's server, and non-blocking connection attempts to it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/count/local_shortage.hpp"

namespace spillway::proxy {

struct Endpoint {
  std::string name;  // as configured, "host:port"
  // In the order that the resolver returned, without duplicates; at least one.
  std::vector<boost::asio::ip::tcp::endpoint> addresses;
};

// If a name has more, the first ones are used.
inline constexpr std::size_t kMostAddresses = 8;

// Resolves "host:port" or "[v6]:port". Blocks, so it is called only when a configuration is read.
// Throws std::runtime_error with the reason if there is no address.
Endpoint resolve(const std::string& server);

// "127.0.0.1:80", "[::1]:80".
std::string to_text(const boost::asio::ip::tcp::endpoint& address);

// A non-blocking connection attempt (connect(2)). Unless it is connected or failed at once, the
// descriptor becomes writable when the outcome is known: see connect_error().
struct ConnectAttempt {
  int descriptor = -1;  // -1: failed at once
  bool connected = false;
  int error = 0;  // errno value if it failed at once
};
ConnectAttempt begin_connect(const boost::asio::ip::tcp::endpoint& address);

// The outcome of a connection attempt that became writable: 0, or an errno value.
int connect_error(int descriptor);

// For an error that says nothing about the server: the resource that this process or machine lacks
// for one more connection. nullopt: it is another error.
std::optional<observe::LocalShortage> local_shortage_of(int error);

// The text of an errno value, e.g. "Connection refused"; static storage.
std::string_view describe(int error);

}  // namespace spillway::proxy
