#include "support/sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace spillway::support {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void fail(int socket, const char* what) {
  const int error = errno;
  ::close(socket);
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

Sent send_all(int socket, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_ready(socket, POLLOUT, deadline)) return Sent::late;
    } else if (errno != EINTR) {
      return Sent::broken;
    }
  }
  return Sent::all;
}

int bind_to_loopback(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail(made, "bind");
  }
  return made;
}

int listen_on_loopback() {
  const int made = bind_to_loopback(0);
  if (::listen(made, 128) != 0) fail(made, "listen");
  return made;
}

int connect_to_loopback(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail(made, "connect");
  }
  const int on = 1;
  ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::system_error(errno, std::generic_category(), "getsockname");
  return ntohs(address.sin_port);
}

}  // namespace spillway::support
