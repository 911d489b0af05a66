#include "support/notify_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace spillway::support {

NotifySocket::NotifySocket(Kind kind)
    : name_((kind == Kind::abstract ? "@" : "") + (directory_.path() / "notify").string()),
      socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name_.data(), name_.size());
  if (kind == Kind::abstract) address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    throw std::system_error(errno, std::generic_category(), "bind");
  }
}

NotifySocket::~NotifySocket() { ::close(socket_); }

std::optional<std::string> NotifySocket::next(Milliseconds within) {
  if (!wait_ready(socket_, POLLIN, Deadline(within))) return std::nullopt;
  std::array<char, 4096> block;
  const ssize_t size = ::recv(socket_, block.data(), block.size(), 0);
  if (size < 0) throw std::system_error(errno, std::generic_category(), "recv");
  return std::string(block.data(), static_cast<std::size_t>(size));
}

std::optional<std::string> NotifySocket::next_with(std::string_view line, Milliseconds within) {
  const Deadline deadline(within);
  for (;;) {
    auto datagram = next(Milliseconds{deadline.left()});
    if (!datagram || says(*datagram, line)) return datagram;
  }
}

bool says(std::string_view datagram, std::string_view line) {
  while (!datagram.empty()) {
    const std::size_t end = datagram.find('\n');
    if (datagram.substr(0, end) == line) return true;
    if (end == std::string_view::npos) return false;
    datagram.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace spillway::support
