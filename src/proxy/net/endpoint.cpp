#include "proxy/net/endpoint.hpp"

#include <netdb.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace spillway::proxy {

Endpoint resolve(const std::string& server) {
  const std::size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  const std::string port = server.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (failed != 0) {
    throw std::runtime_error(std::string("which has no address: ") + ::gai_strerror(failed));
  }
  Endpoint endpoint;
  endpoint.name = server;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  endpoint.length = found->ai_addrlen;
  return endpoint;
}

boost::asio::ip::tcp::endpoint tcp_endpoint(const Endpoint& endpoint) {
  boost::asio::ip::tcp::endpoint result;
  std::memcpy(result.data(), &endpoint.address, endpoint.length);
  result.resize(endpoint.length);
  return result;
}

ConnectAttempt begin_connect(const Endpoint& endpoint) {
  const int descriptor =
      ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {.error = errno};
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::connect(descriptor, address, endpoint.length) == 0) {
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

bool is_local_shortage(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ENOSPC:         // every epoll watch of this user is in use
    case EADDRNOTAVAIL:  // every port towards that address is in use
    case EAGAIN: return true;
    default: return false;
  }
}

std::string_view describe(int error) {
  const char* const text = ::strerrordesc_np(error);
  return text != nullptr ? text : "";
}

}  // namespace spillway::proxy
