#include "support/scripted_peer.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "support/sockets.hpp"

namespace spillway::support {

namespace {

int bound_socket(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (descriptor < 0 ||
      ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "bind");
  }
  port = ntohs(address.sin_port);
  return descriptor;
}

}  // namespace

bool PeerConnection::wait_ready_or_end(int descriptor, short events, const Deadline& deadline) {
  for (;;) {
    std::array<pollfd, 2> ready{{{descriptor, events, 0}, {peer_.ending_.descriptor(), POLLIN, 0}}};
    const int count = ::poll(ready.data(), ready.size(), deadline.left());
    if (count < 0 && errno == EINTR) continue;
    return count > 0 && ready[1].revents == 0;
  }
}

bool PeerConnection::read_some(const Deadline& deadline) {
  while (!ended_) {
    if (!wait_ready_or_end(socket_, POLLIN, deadline)) return false;
    std::array<char, 65536> block;
    const ssize_t size = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
    if (size > 0) {
      const std::string_view bytes(block.data(), static_cast<std::size_t>(size));
      pending_ += bytes;
      if (keep_) {
        const std::lock_guard lock(peer_.mutex_);
        peer_.seen_.received[number_] += bytes;
        peer_.changed_.notify_all();
      }
      return true;
    }
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    was_reset_ = size < 0;
    ended_ = true;
  }
  return false;
}

std::optional<Message> PeerConnection::read_head() {
  const Deadline deadline(60s);
  for (;;) {
    if (auto message = take_head(pending_)) {
      const std::lock_guard lock(peer_.mutex_);
      ++peer_.seen_.requests;
      peer_.changed_.notify_all();
      return message;
    }
    if (!read_some(deadline)) return std::nullopt;
  }
}

std::optional<Message> PeerConnection::read_request() {
  const Deadline deadline(60s);
  for (;;) {
    if (auto message = take_message(pending_, Expected::request, false)) {
      const std::lock_guard lock(peer_.mutex_);
      ++peer_.seen_.requests;
      peer_.changed_.notify_all();
      return message;
    }
    if (!read_some(deadline)) return std::nullopt;
  }
}

std::optional<std::string> PeerConnection::read_bytes(std::size_t size) {
  const Deadline deadline;
  while (pending_.size() < size) {
    if (!read_some(deadline)) return std::nullopt;
  }
  std::string bytes = pending_.substr(0, size);
  pending_.erase(0, size);
  return bytes;
}

std::optional<std::string> PeerConnection::read_until(std::string_view end) {
  const Deadline deadline;
  std::size_t found;
  while ((found = pending_.find(end)) == std::string::npos) {
    if (!read_some(deadline)) return std::nullopt;
  }
  return read_bytes(found + end.size());
}

bool PeerConnection::skip_bytes(std::uint64_t size) {
  keep_ = false;
  const Deadline deadline(60s);
  while (pending_.size() < size) {
    size -= pending_.size();
    pending_.clear();
    if (!read_some(deadline)) break;
  }
  keep_ = true;
  const bool all = pending_.size() >= size;
  pending_.erase(0, std::min<std::uint64_t>(size, pending_.size()));
  return all;
}

bool PeerConnection::send(std::string_view bytes) {
  const Deadline deadline(60s);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_ready_or_end(socket_, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool PeerConnection::wait(const Event& event) {
  return wait_ready_or_end(event.descriptor(), POLLIN, Deadline{});
}

bool PeerConnection::wait_closed(Milliseconds within) {
  const Deadline deadline(within);
  while (read_some(deadline)) {
  }
  return ended_;
}

bool PeerConnection::wait_taken() {
  for (const Deadline deadline; !deadline.passed();) {
    int unacknowledged = 0, error = 0;
    socklen_t size = sizeof error;
    if (::ioctl(socket_, SIOCOUTQ, &unacknowledged) != 0 ||
        ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
      return false;
    if (unacknowledged == 0) return true;
    if (wait_ready(peer_.ending_.descriptor(), POLLIN, Deadline(Milliseconds{1}))) return false;
  }
  return false;
}

void PeerConnection::half_close() { ::shutdown(socket_, SHUT_WR); }

void PeerConnection::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

ScriptedPeer::ScriptedPeer(Script script)
    : script_(std::move(script)), listener_(bound_socket(port_)) {
  if (::listen(listener_, 512) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedPeer::ScriptedPeer(std::string response)
    : ScriptedPeer([response = std::move(response)](PeerConnection& proxy) {
        while (proxy.read_request() && proxy.send(response)) {
        }
      }) {}

ScriptedPeer::~ScriptedPeer() {
  ending_.set();
  acceptor_.join();
  for (std::thread& player : players_) player.join();
  ::close(listener_);
}

void ScriptedPeer::accept_all() {
  for (std::size_t number = 0;;) {
    std::array<pollfd, 2> ready{{{listener_, POLLIN, 0}, {ending_.descriptor(), POLLIN, 0}}};
    // Fails too where a test leaves this process no descriptors for a moment: then accept() would
    // wait for ever.
    if (::poll(ready.data(), ready.size(), -1) <= 0) continue;
    if (ready[1].revents != 0) return;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    {
      const std::lock_guard lock(mutex_);
      ++seen_.connections;
      seen_.most_open = std::max(seen_.most_open, ++seen_.open);
      seen_.received.emplace_back();
    }
    changed_.notify_all();
    players_.emplace_back([this, socket, number] { play(socket, number); });
    ++number;
  }
}

void ScriptedPeer::play(int socket, std::size_t number) {
  PeerConnection connection(*this, socket, number);
  script_(connection);
  // Counted before it is closed: whoever sees the end of it sees it counted.
  {
    const std::lock_guard lock(mutex_);
    --seen_.open;
    changed_.notify_all();
  }
  ::close(socket);
}

ScriptedPeer::Seen ScriptedPeer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::size_t ScriptedPeer::open() const {
  const std::lock_guard lock(mutex_);
  return seen_.open;
}

std::size_t ScriptedPeer::requests() const {
  const std::lock_guard lock(mutex_);
  return seen_.requests;
}

bool ScriptedPeer::wait_until(const std::function<bool(const Seen&)>& condition,
                              Milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return condition(seen_); });
}

RefusingPort::RefusingPort() : socket_(bound_socket(port_)) {}
RefusingPort::RefusingPort(std::uint16_t port) : port_(port), socket_(bind_to_loopback(port)) {
  // Where others may use it again, the kernel chooses it for them.
  const int off = 0;
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &off, sizeof off);
}
RefusingPort::~RefusingPort() { ::close(socket_); }

}  // namespace spillway::support
