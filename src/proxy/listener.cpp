#include "proxy/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include "proxy/worker.hpp"

namespace spillway::proxy {

namespace {

constexpr int kBacklog = 4096;

int bind_and_listen(const config::Listen& listen) {
  const auto fail = [&listen](const std::string& why) {
    return std::runtime_error("cannot listen on " + listen.address + " port " +
                              std::to_string(listen.port) + ": " + why);
  };
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  const int unknown =
      ::getaddrinfo(listen.address.c_str(), std::to_string(listen.port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  if (unknown != 0) throw fail(::gai_strerror(unknown));
  const int descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (descriptor < 0 || ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(descriptor, kBacklog) != 0) {
    const std::string why = std::generic_category().message(errno);
    if (descriptor >= 0) ::close(descriptor);
    throw fail(why);
  }
  return descriptor;
}

std::uint16_t port_of(int descriptor) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &length);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

}  // namespace

Listener::Listener(const config::Listen& address, std::uint32_t most_connections,
                   std::vector<std::unique_ptr<Worker>>& workers)
    : workers_(workers),
      socket_(workers.front()->io().get_executor()),
      timer_(workers.front()->io().get_executor()),
      most_connections_(most_connections) {
  const int descriptor = bind_and_listen(address);
  socket_.assign(descriptor);
  port_ = port_of(descriptor);
}

void Listener::start() { wait(); }

void Listener::wait() {
  socket_.async_wait(socket_.wait_read, [this](const boost::system::error_code& stopped) {
    if (stopped) return;
    if (accept_all()) {
      wait();
    } else {
      pause();
    }
  });
}

void Listener::pause() {
  timer_.expires_after(kPause);
  timer_.async_wait([this](const boost::system::error_code& stopped) {
    if (!stopped && socket_.is_open()) wait();
  });
}

bool Listener::accept_all() {
  for (;;) {
    std::uint32_t connections = 0;
    Worker* idlest = workers_.front().get();
    for (const auto& worker : workers_) {
      connections += worker->connections();
      if (worker->connections() < idlest->connections()) idlest = worker.get();
    }
    if (connections >= most_connections_) return false;

    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const int descriptor = ::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&peer),
                                     &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      idlest->adopt(descriptor, peer);
      continue;
    }
    switch (errno) {
      case EAGAIN: return true;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: return false;
      default: continue;  // this connection broke before it was accepted (accept(2))
    }
  }
}

void Listener::stop() {
  if (!socket_.is_open()) return;
  accept_all();
  timer_.cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace spillway::proxy
