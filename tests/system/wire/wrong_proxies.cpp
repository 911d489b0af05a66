#include "system/wire/wrong_proxies.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/sockets.hpp"

namespace spillway::wire {

using support::Deadline;
using support::Event;
using support::Milliseconds;

namespace {

constexpr Milliseconds kPatience{300};

void tell(int socket, std::string_view bytes) {
  support::send_all(socket, bytes, Deadline(Milliseconds{1000}));
}

// Until either side ends. `farewell` is said to the origin then.
void pass_on(int client, std::uint16_t port, std::string_view farewell, const Event& over) {
  const int upstream = support::connect_to_loopback(port);
  std::array<char, 65536> block;
  for (bool open = true; open;) {
    std::array<pollfd, 3> ready{
        {{client, POLLIN, 0}, {upstream, POLLIN, 0}, {over.descriptor(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno == EINTR) continue;
    open = ready[2].revents == 0;
    for (const auto& [from, to, events] : {std::tuple{client, upstream, ready[0].revents},
                                           std::tuple{upstream, client, ready[1].revents}}) {
      if (events == 0) continue;
      const ssize_t size = ::recv(from, block.data(), block.size(), MSG_DONTWAIT);
      if (size > 0) tell(to, {block.data(), static_cast<std::size_t>(size)});
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) open = false;
    }
  }
  tell(upstream, farewell);
  ::close(upstream);
}

void refuse(int client, const Event&) {
  std::array<char, 65536> block;
  if (!support::wait_ready(client, POLLIN, Deadline{})) return;
  if (::recv(client, block.data(), block.size(), MSG_DONTWAIT) <= 0) return;
  tell(client, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  ::shutdown(client, SHUT_WR);
  const Deadline deadline(kPatience);
  while (support::wait_ready(client, POLLIN, deadline) &&
         ::recv(client, block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

WrongServer::WrongServer(Treatment treatment)
    : treatment_(std::move(treatment)), listener_(support::listen_on_loopback()) {
  thread_ = std::thread([this] { run(); });
}

std::uint16_t WrongServer::port() const { return support::port_of(listener_); }

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

ProxyUnderTest relay(std::size_t lanes, Ending ending) {
  // Ends chunks of whatever kind, and fills up what Content-Length promised.
  const std::string farewell =
      ending == Ending::completes ? "\r\n0\r\n\r\n" + std::string(200'000, 'x') : "";
  ProxyUnderTest proxy{
      .name = "relay", .patience = kPatience, .lanes = std::vector<Lane>(lanes), .servers = {}};
  for (Lane& lane : proxy.lanes) {
    const auto server = proxy.start<WrongServer>(
        [port = lane.origin->port(), farewell](int client, const Event& over) {
          pass_on(client, port, farewell, over);
        });
    lane.port = lane.trusting_port = server->port();
  }
  return proxy;
}

ProxyUnderTest refuser(std::size_t lanes) {
  ProxyUnderTest proxy{
      .name = "refuser", .patience = kPatience, .lanes = std::vector<Lane>(lanes), .servers = {}};
  for (Lane& lane : proxy.lanes) {
    lane.port = lane.trusting_port = proxy.start<WrongServer>(refuse)->port();
  }
  return proxy;
}

}  // namespace spillway::wire
