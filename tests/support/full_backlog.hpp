// A server that a connection to neither succeeds nor fails.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

namespace spillway::support {

// Listens and takes no connection: those that nobody accepts fill its backlog, and the kernel
// ignores the next ones.
class FullBacklog {
 public:
  FullBacklog() {
    for (int& socket : sockets_) socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    REQUIRE(::bind(sockets_[0], address, size) == 0);
    REQUIRE(::getsockname(sockets_[0], address, &size) == 0);
    REQUIRE(::listen(sockets_[0], 0) == 0);
    for (std::size_t i = 1; i < sockets_.size(); ++i) ::connect(sockets_[i], address, size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  }
  ~FullBacklog() {
    for (const int socket : sockets_) ::close(socket);
  }
  FullBacklog(const FullBacklog&) = delete;
  FullBacklog& operator=(const FullBacklog&) = delete;

  const std::string& address() const { return address_; }

 private:
  std::array<int, 4> sockets_;  // the listener first
  std::string address_;
};

}  // namespace spillway::support
