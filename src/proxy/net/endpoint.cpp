#include "proxy/net/endpoint.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace spillway::proxy {

namespace asio = boost::asio;

Endpoint resolve(const std::string& server) {
  const std::size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  const std::string port = server.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);

  asio::io_context io;
  boost::system::error_code error;
  const auto found = asio::ip::tcp::resolver(io).resolve(host, port, error);
  if (error || found.empty()) throw std::runtime_error("which has no address: " + error.message());
  Endpoint result{.name = server, .addresses = {}};
  for (const auto& one : found) {
    const bool is_known = std::ranges::count(result.addresses, one.endpoint()) != 0;
    if (!is_known && result.addresses.size() < kMostAddresses)
      result.addresses.push_back(one.endpoint());
  }
  return result;
}

std::string to_text(const asio::ip::tcp::endpoint& address) {
  const std::string host = address.address().to_string();
  const std::string port = ":" + std::to_string(address.port());
  return address.address().is_v6() ? "[" + host + "]" + port : host + port;
}

ConnectAttempt begin_connect(const asio::ip::tcp::endpoint& address) {
  const int descriptor =
      ::socket(address.data()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {.error = errno};
  if (::connect(descriptor, address.data(), address.size()) == 0) {
    return {.descriptor = descriptor, .connected = true};
  }
  const int error = errno;
  if (error == EINPROGRESS) return {.descriptor = descriptor};
  ::close(descriptor);
  return {.error = error};
}

int connect_error(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

std::optional<observe::LocalShortage> local_shortage_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE: return observe::LocalShortage::descriptors;
    case EADDRNOTAVAIL:  // no free local port for this address
    case EAGAIN: return observe::LocalShortage::ports;
    case ENOMEM:
    case ENOBUFS:
    case ENOSPC: return observe::LocalShortage::memory;  // the limit of epoll watches is reached
    default: return std::nullopt;
  }
}

std::string_view describe(int error) {
  const char* const text = ::strerrordesc_np(error);
  return text != nullptr ? text : "";
}

}  // namespace spillway::proxy
