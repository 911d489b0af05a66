// A server of an upstream, resolved to an address to connect to.
#pragma once

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

namespace spillway::proxy {

struct Endpoint {
  std::string name;  // as configured, "host:port"
  sockaddr_storage address{};
  socklen_t length = 0;

  bool v6() const { return address.ss_family == AF_INET6; }
};

// Looks up "host:port" or "[v6]:port", once, when a configuration is read. Throws
// std::runtime_error that says why when it has no address.
Endpoint resolve(const std::string& server);

// The address as Asio takes it.
boost::asio::ip::tcp::endpoint tcp_endpoint(const Endpoint& endpoint);

// A non-blocking connection attempt. Without a descriptor (-1) it has failed at once; if not yet
// connected it will be, or will have failed (see connect_error), once it becomes writable.
struct ConnectAttempt {
  int descriptor = -1;
  bool connected = false;
  int error = 0;  // why there is no descriptor: an errno value
};
ConnectAttempt begin_connect(const Endpoint& endpoint);

// The outcome of a connection attempt that became writable: 0, or an errno value.
int connect_error(int descriptor);

// Such an error says nothing about the server: this process or machine has no descriptor, port or
// memory left for one more connection.
bool is_local_shortage(int error);

// An errno value in words, e.g. "Connection refused". Of static storage.
std::string_view describe(int error);

}  // namespace spillway::proxy
