#include "support/raw_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/sockets.hpp"

namespace spillway::support {

RawClient::RawClient(std::uint16_t port, int receive_buffer, const char* from, Milliseconds within)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  // The time to send is that to connect, too; what is sent here is waited for with poll(2).
  const timeval most{within.count() / 1000, within.count() % 1000 * 1000};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (from != nullptr) {
    ::inet_pton(AF_INET, from, &address.sin_addr);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
    ::close(socket_);
    throw std::system_error(error, std::generic_category(), "connect");
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

RawClient::RawClient(RawClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      pending_(std::move(other.pending_)),
      ended_(other.ended_),
      was_reset_(other.was_reset_) {}

RawClient::~RawClient() { close(); }

bool RawClient::try_send(std::string_view bytes, Milliseconds within) {
  return send_all(socket_, bytes, Deadline(within)) != Sent::broken;
}

RawClient& RawClient::send(std::string_view bytes) {
  if (!try_send(bytes)) throw std::runtime_error("the connection was closed while we sent");
  return *this;
}

RawClient::Read RawClient::read_some(const Deadline& deadline) {
  if (ended_) return Read::end;
  for (;;) {
    if (!wait_ready(socket_, POLLIN, deadline)) return Read::timeout;
    std::array<char, 65536> block;
    const ssize_t size = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
    if (size > 0) {
      pending_.append(block.data(), static_cast<std::size_t>(size));
      return Read::some;
    }
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    ended_ = true;
    was_reset_ = size < 0;
    return Read::end;
  }
}

Message RawClient::read_response(Expected expected, Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    if (auto message = take_message(pending_, expected, ended_ && !was_reset_)) return *message;
    if (ended_) throw std::runtime_error("closed instead of a response, after: " + pending_);
    if (read_some(deadline) == Read::timeout) {
      throw std::runtime_error("no response in time, only: " + pending_);
    }
  }
}

Message RawClient::read_head(Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    if (auto message = take_head(pending_)) return *message;
    if (read_some(deadline) != Read::some) {
      throw std::runtime_error("no head, only: " + pending_);
    }
  }
}

std::string RawClient::read_bytes(std::size_t size, Milliseconds within) {
  const Deadline deadline(within);
  while (pending_.size() < size) {
    if (read_some(deadline) != Read::some) {
      throw std::runtime_error("only " + std::to_string(pending_.size()) + " bytes came");
    }
  }
  std::string bytes = pending_.substr(0, size);
  pending_.erase(0, size);
  return bytes;
}

std::string RawClient::read_to_end(Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    const Read read = read_some(deadline);
    if (read == Read::end) return std::exchange(pending_, {});
    if (read == Read::timeout) throw std::runtime_error("still open, after: " + pending_);
  }
}

void RawClient::half_close() { ::shutdown(socket_, SHUT_WR); }

void RawClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void RawClient::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

bool RawClient::is_closed(Milliseconds within) {
  const Deadline deadline(within);
  return pending_.empty() && read_some(deadline) == Read::end;
}

bool RawClient::has_bytes(Milliseconds within) {
  return !pending_.empty() || read_some(Deadline(within)) == Read::some;
}

std::string get(std::string_view target, std::string_view lines) {
  return std::string("GET ")
             .append(target)
             .append(" HTTP/1.1\r\nHost: a.example\r\n")
             .append(lines) +
         "\r\n";
}

std::string post(std::string_view target, std::string_view body, std::string_view lines) {
  return std::string("POST ")
      .append(target)
      .append(" HTTP/1.1\r\nHost: a.example\r\nContent-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n")
      .append(lines)
      .append("\r\n")
      .append(body);
}

}  // namespace spillway::support
