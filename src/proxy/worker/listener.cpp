#include "proxy/worker/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "proxy/worker/worker.hpp"

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

traffic::SipKey random_key() {
  std::random_device entropy;
  const auto word = [&] { return (std::uint64_t{entropy()} << 32) | entropy(); };
  return {word(), word()};
}

void reset(int descriptor) {
  const linger at_once{1, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(descriptor);
}

}  // namespace

Listener::Listener(const config::Listen& address, std::uint32_t most_connections,
                   std::vector<std::unique_ptr<Worker>>& workers)
    : workers_(workers),
      loop_(workers.front()->loop()),
      timer_(
          loop_, [](void* listener) { static_cast<Listener*>(listener)->on_events(0); }, this),
      socket_(bind_and_listen(address)),
      most_connections_(most_connections),
      addresses_(most_connections, random_key()) {
  port_ = port_of(socket_);
  // Another worker's thread: nothing of ours is touched there.
  room().on_freed([this] { loop_.post([this] { on_events(0); }); });
}

Listener::~Listener() {
  room().stop_waiting();
  close();
}

AcceptResume& Listener::room() const { return workers_.front()->accept_resume(); }

void Listener::start() {
  if (!loop_.watch(socket_, EPOLLIN, *this))
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

// Edges: whoever stops before nobody waits any more has to come back by itself.
void Listener::on_events(std::uint32_t) {
  if (socket_ < 0) return;
  switch (accept_some()) {
    case Next::go_on: return loop_.tell_soon(*this);
    case Next::pause: return timer_.set(Clock::now() + kPause);
    case Next::wait_for_room: return wait_for_room();
    case Next::wait: return;
  }
}

// Where one ended since they were counted, nobody else would tell.
void Listener::wait_for_room() {
  room().wait();
  go_on_if_there_is_room();
}

void Listener::set_most_connections(std::uint32_t most) {
  most_connections_ = most;
  addresses_.grow(most);
  go_on_if_there_is_room();
}

void Listener::go_on_if_there_is_room() {
  if (connections() < most_connections_ && room().stop_waiting()) loop_.tell_soon(*this);
}

std::uint32_t Listener::connections() const {
  std::uint32_t sum = 0;
  for (const auto& worker : workers_) sum += worker->connections();
  return sum;
}

Listener::Next Listener::accept_some() {
  for (int accepted = 0; accepted < kAcceptsInARow; ++accepted) {
    std::uint32_t connections = 0;
    Worker* idlest = workers_.front().get();
    for (const auto& worker : workers_) {
      connections += worker->connections();
      if (worker->connections() < idlest->connections()) idlest = worker.get();
    }
    if (connections >= most_connections_) {
      begin_pause(pauses_for_connections_, "there are as many connections as there may be");
      return Next::wait_for_room;
    }
    const Next next = accept_one(*idlest);
    if (next != Next::go_on) return next;
  }
  return Next::go_on;
}

Listener::Next Listener::accept_one(Worker& worker) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  const int descriptor =
      ::accept4(socket_, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    switch (errno) {
      case EAGAIN: paused_ = false; return Next::wait;
      case EMFILE:
      case ENFILE:
        begin_pause(pauses_for_descriptors_, "no file descriptors are left");
        return Next::pause;
      case ENOBUFS:
      case ENOMEM:
        begin_pause(pauses_for_descriptors_, "the system is out of memory");
        return Next::pause;
      default: return Next::go_on;  // this connection broke before it was accepted (accept(2))
    }
  }
  paused_ = false;
  admit(descriptor, info_of(peer, workers_.front()->newest_generation().generation()), worker);
  return Next::go_on;
}

// Clients are counted whether or not there is a cap, so that one that comes with a reload holds for
// those who are here already.
void Listener::admit(int descriptor, const ClientInfo& client, Worker& worker) {
  if (client.trusted()) return worker.adopt(descriptor, client, {});
  const auto cap = workers_.front()->newest_generation().config().limits.connections_per_address;
  auto place = addresses_.admit(client.peer.address, cap.value_or(UINT32_MAX));
  if (!place) return refuse(descriptor, client);
  worker.adopt(descriptor, client, std::move(*place));
}

void Listener::refuse(int descriptor, const ClientInfo& client) {
  reset(descriptor);
  refused_by_address_.add();
  if (!refusal_lines_.try_take(1, 1, Clock::now())) return;
  workers_.front()->log().message(observe::Level::warn,
                                  "closed a connection: " + std::string(client.address()) +
                                      " has limits.connections_per_address of them");
}

// A pause lasts until something is accepted again or nobody waits.
void Listener::begin_pause(observe::Counter& reason, const char* why) {
  if (std::exchange(paused_, true)) return;
  reason.add();
  if (!pause_lines_.try_take(1, 1, Clock::now())) return;
  workers_.front()->log().message(observe::Level::warn, std::string("accepting pauses: ") + why);
}

void Listener::stop() {
  if (socket_ < 0) return;
  while (accept_some() == Next::go_on) {
  }
  timer_.cancel();
  room().stop_waiting();
  close();
}

void Listener::close() {
  if (socket_ < 0) return;
  loop_.forget(*this);
  ::close(std::exchange(socket_, -1));
}

void Listener::read_snapshot(observe::ListenerSnapshot& snapshot) const {
  snapshot.refused_by_address = refused_by_address_.value();
  snapshot.pauses_for_connections = pauses_for_connections_.value();
  snapshot.pauses_for_descriptors = pauses_for_descriptors_.value();
}

}  // namespace spillway::proxy
