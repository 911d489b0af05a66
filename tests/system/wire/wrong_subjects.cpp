#include "system/wire/wrong_subjects.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace spillway::conformance {

using support::Deadline;
using support::Event;
using support::Milliseconds;

namespace {

constexpr Milliseconds kPatience{300};

sockaddr_in local(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_all(int socket, std::string_view bytes) {
  const Deadline deadline(Milliseconds{1000});
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN || !support::wait_ready(socket, POLLOUT, deadline)) {
      return;
    }
  }
}

// Until either side ends. `farewell` is said to the backend then.
void relay(int client, std::uint16_t port, std::string_view farewell, const Event& over) {
  const int upstream = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(upstream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = local(port);
  bool open = ::connect(upstream, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  std::array<char, 65536> block;
  while (open) {
    std::array<pollfd, 3> ready{
        {{client, POLLIN, 0}, {upstream, POLLIN, 0}, {over.descriptor(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) continue;
    open = ready[2].revents == 0;
    for (const auto& [from, to, events] : {std::tuple{client, upstream, ready[0].revents},
                                           std::tuple{upstream, client, ready[1].revents}}) {
      if (events == 0) continue;
      const ssize_t size = ::recv(from, block.data(), block.size(), MSG_DONTWAIT);
      if (size > 0) send_all(to, {block.data(), static_cast<std::size_t>(size)});
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) open = false;
    }
  }
  send_all(upstream, farewell);
  ::close(upstream);
}

void refuse(int client, const Event&) {
  std::array<char, 65536> block;
  if (!support::wait_ready(client, POLLIN, Deadline{})) return;
  if (::recv(client, block.data(), block.size(), MSG_DONTWAIT) <= 0) return;
  send_all(client, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  ::shutdown(client, SHUT_WR);
  const Deadline deadline(kPatience);
  while (support::wait_ready(client, POLLIN, deadline) &&
         ::recv(client, block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
}

Subject wrong(std::string name, const std::deque<WrongServer>& servers,
              std::deque<Backend>& backends) {
  Subject subject{.name = std::move(name), .lanes = {}, .patience = kPatience};
  for (std::size_t n = 0; n < servers.size(); ++n) {
    subject.lanes.push_back(
        {.port = servers[n].port(), .trusting_port = servers[n].port(), .backend = &backends[n]});
  }
  return subject;
}

}  // namespace

WrongServer::WrongServer(Treatment treatment)
    : treatment_(std::move(treatment)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = local(0);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 128) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

WrongServer::~WrongServer() {
  over_.set();
  thread_.join();
  for (std::thread& each : treated_) each.join();
  ::close(listener_);
}

void WrongServer::run() {
  for (;;) {
    std::array<pollfd, 2> ready{{{listener_, POLLIN, 0}, {over_.descriptor(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) continue;
    if (ready[1].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    treated_.emplace_back([this, client] {
      treatment_(client, over_);
      ::close(client);
    });
  }
}

Relays::Relays(std::size_t lanes, Ending ending) {
  // Ends chunks of whatever kind, and fills up what Content-Length promised.
  const std::string farewell =
      ending == Ending::completes ? "\r\n0\r\n\r\n" + std::string(200'000, 'x') : "";
  for (std::size_t n = 0; n < lanes; ++n) {
    const std::uint16_t port = backends_.emplace_back().port();
    servers_.emplace_back(
        [port, farewell](int client, const Event& over) { relay(client, port, farewell, over); });
  }
}

Subject Relays::subject() { return wrong("relay", servers_, backends_); }

Refusers::Refusers(std::size_t lanes) {
  for (std::size_t n = 0; n < lanes; ++n) {
    backends_.emplace_back();
    servers_.emplace_back(refuse);
  }
}

Subject Refusers::subject() { return wrong("refuser", servers_, backends_); }

}  // namespace spillway::conformance
