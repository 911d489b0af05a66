// A server on loopback that the test plays step by step, on the thread of the proxy's loop: so it
// is known what has happened before each step, and nothing is waited for that does not come.
#pragma once

#include <doctest/doctest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "support/event.hpp"
#include "support/sockets.hpp"

namespace spillway::proxy {

// The server's end of a connection.
class SteppedConnection {
 public:
  SteppedConnection() = default;  // none
  explicit SteppedConnection(int socket) : socket_(socket) {}
  SteppedConnection(SteppedConnection&& other) noexcept { *this = std::move(other); }
  SteppedConnection& operator=(SteppedConnection&& other) noexcept {
    close();
    socket_ = std::exchange(other.socket_, -1);
    return *this;
  }
  ~SteppedConnection() { close(); }

  explicit operator bool() const { return socket_ >= 0; }
  // Returns once they are where the proxy can read them.
  void send(std::string_view bytes) {
    const support::Deadline deadline;
    REQUIRE(support::send_all(socket_, bytes, deadline) == support::Sent::all);
    int untaken = 1;
    while (untaken > 0 && !deadline.passed()) ::ioctl(socket_, SIOCOUTQ, &untaken);
    REQUIRE(untaken == 0);
  }
  // As much as the kernel takes now: the number of bytes.
  std::size_t send_some(std::string_view bytes) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }
  // What has come by now.
  std::string read() {
    std::string all;
    std::array<char, 65536> block;
    for (;;) {
      const ssize_t got = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
      if (got <= 0) {
        if (got == 0) end_ = End::half_closed;
        if (got < 0 && errno != EAGAIN) end_ = End::reset;
        return all;
      }
      all.append(block.data(), static_cast<std::size_t>(got));
    }
  }
  // A little of it, so that the kernel keeps the rest.
  std::string read_some() {
    std::string some(16, '\0');
    const ssize_t got = ::recv(socket_, some.data(), some.size(), MSG_DONTWAIT);
    some.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return some;
  }
  // How the proxy has ended its side, as far as was read.
  enum class End { none, half_closed, reset };
  End end() {
    read();
    return end_;
  }

  void half_close() { ::shutdown(socket_, SHUT_WR); }
  // With bytes that were not read this is a reset, too.
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  int socket_ = -1;
  End end_ = End::none;
};

class SteppedServer {
 public:
  SteppedServer() : listener_(support::listen_on_loopback()) {}
  ~SteppedServer() { ::close(listener_); }
  SteppedServer(const SteppedServer&) = delete;
  SteppedServer& operator=(const SteppedServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(support::port_of(listener_)); }
  // None: no connection is there.
  SteppedConnection accept() {
    return SteppedConnection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  int listener_;
};

}  // namespace spillway::proxy
