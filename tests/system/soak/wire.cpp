#include "system/soak/wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "support/sockets.hpp"

namespace spillway::soak {

namespace {

sockaddr_in address_of(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  return address;
}

}  // namespace

Wire::Wire(std::uint16_t port, std::uint16_t source, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  if (receive_buffer > 0) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  ::setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in from = address_of(0x7f000000u + source, 0);
  const sockaddr_in to = address_of(INADDR_LOOPBACK, port);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    const int error = errno;
    close();
    throw std::system_error(error, std::generic_category(), "connect");
  }
}

Wire::~Wire() { close(); }

bool Wire::send(std::string_view bytes, Milliseconds within) {
  return support::send_all(socket_, bytes, Deadline(within)) == support::Sent::all;
}

Wire::Read Wire::read_some(Milliseconds within, std::size_t most) {
  if (over_) return *over_;
  const Deadline deadline(within);
  std::array<char, 65536> block;
  for (;;) {
    if (!support::wait_ready(socket_, POLLIN, deadline)) return Read::late;
    const ssize_t size = ::recv(socket_, block.data(), std::min(most, block.size()), MSG_DONTWAIT);
    if (size > 0) {
      received_.append(block.data(), static_cast<std::size_t>(size));
      return Read::done;
    }
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    over_ = size == 0 ? Read::ended : Read::reset;
    return *over_;
  }
}

Wire::Read Wire::read(support::Message& message, support::Expected expected, Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    if (auto taken = support::take_message(received_, expected, over_ == Read::ended)) {
      message = std::move(*taken);
      return Read::done;
    }
    const Read more = read_some(Milliseconds{deadline.left()});
    if (more == Read::ended && expected != support::Expected::request) {
      // Its end may be what completes the message.
      if (auto taken = support::take_message(received_, expected, true)) {
        message = std::move(*taken);
        return Read::done;
      }
    }
    if (more != Read::done) return more;
  }
}

Wire::Read Wire::read_head(support::Message& message, Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    if (auto taken = support::take_head(received_)) {
      message = std::move(*taken);
      return Read::done;
    }
    const Read more = read_some(Milliseconds{deadline.left()});
    if (more != Read::done) return more;
  }
}

Wire::Read Wire::read_to_end(Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    const Read more = read_some(Milliseconds{deadline.left()});
    if (more != Read::done) return more;
  }
}

void Wire::half_close() { ::shutdown(socket_, SHUT_WR); }

void Wire::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (!over_) over_ = Read::ended;
}

void Wire::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void Wire::interrupt() { ::shutdown(socket_, SHUT_RDWR); }

}  // namespace spillway::soak
