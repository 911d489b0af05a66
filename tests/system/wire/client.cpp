#include "system/wire/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "support/sockets.hpp"

namespace spillway::wire {

using support::Deadline;
using support::Expected;
using support::Milliseconds;

Client::Client(std::uint16_t port, bool is_head, Origin& origin, Observation& seen)
    : is_head_(is_head),
      origin_(origin),
      seen_(seen),
      socket_(support::connect_to_loopback(port)) {}

Client::~Client() { ::close(socket_); }

void Client::send(std::string_view bytes, Milliseconds within) {
  const Deadline deadline(within);
  while (!bytes.empty() && wait_and_read(POLLIN | POLLOUT, deadline)) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
  }
}

void Client::read_until(const std::function<bool()>& enough, Milliseconds within) {
  const Deadline deadline(within);
  while (!enough() && wait_and_read(POLLIN, deadline)) {
  }
}

void Client::half_close() { ::shutdown(socket_, SHUT_WR); }

bool Client::wait_and_read(short events, const Deadline& deadline) {
  if (ended_ || !support::wait_ready(socket_, events, deadline)) return false;
  std::array<char, 65536> block;
  const ssize_t size = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
  if (size > 0) {
    seen_.rest.append(block.data(), static_cast<std::size_t>(size));
    take_messages();
    origin_.client_received();
    return true;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  ended_ = true;
  seen_.reset = size < 0;
  take_messages();
  return false;
}

void Client::take_messages() {
  try {
    while (!garbled_) {
      auto message = support::take_message(
          seen_.rest, is_head_ ? Expected::head_only : Expected::response, ended_ && !seen_.reset);
      if (!message) return;
      const bool is_interim = message->status() < 200 && message->status() != 101;
      (is_interim ? seen_.interim : seen_.responses).push_back(*std::move(message));
    }
  } catch (const std::runtime_error&) {
    garbled_ = true;
  }
}

}  // namespace spillway::wire
