#include "proxy/worker/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr int kBacklog = 4096;

template <class Acceptor>
void bind_and_listen(Acceptor& acceptor, const config::Listen& listen) {
  const auto fail = [&listen](const std::string& why) {
    return std::runtime_error("cannot listen on " + listen.address + " port " +
                              std::to_string(listen.port) + ": " + why);
  };
  boost::system::error_code unknown;
  const tcp::endpoint endpoint(asio::ip::make_address(listen.address, unknown), listen.port);
  if (unknown) throw fail("not an IP address");
  try {
    acceptor.open(endpoint.protocol());
    ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.native_non_blocking(true);
    acceptor.bind(endpoint);
    acceptor.listen(kBacklog);
  } catch (const boost::system::system_error& error) {
    throw fail(error.code().message());
  }
}

SipKey random_key() {
  std::random_device entropy;
  const auto word = [&] { return (std::uint64_t{entropy()} << 32) | entropy(); };
  return {word(), word()};
}

void reset(int descriptor) {
  const linger at_once{1, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(descriptor);
}

// How many connections wait to be accepted. For a listening socket Linux returns it in the field
// for the unacknowledged segments (tcp_get_info()).
std::uint32_t count_newcomers(int listening) {
  pollfd one{listening, POLLIN, 0};
  if (::poll(&one, 1, 0) <= 0) return 0;
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool is_told = ::getsockopt(listening, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  return is_told ? std::max(1U, info.tcpi_unacked) : 1;
}

}  // namespace

Listener::Listener(const config::Listen& address, std::uint32_t most_connections,
                   std::vector<std::unique_ptr<Worker>>& workers)
    : workers_(workers),
      loop_(workers.front()->loop()),
      pause_timer_(loop_,
                   [this] {
                     if (resume().stop_waiting()) on_clients();
                   }),
      acceptor_(loop_.io()),
      most_connections_(most_connections),
      addresses_(most_connections, random_key()) {
  bind_and_listen(acceptor_, address);
  port_ = acceptor_.local_endpoint().port();
  // Called on another worker's thread, which must not touch this object.
  resume().on_connection_closed([this] { loop_.post([this] { on_clients(); }); });
}

Listener::~Listener() { resume().stop_waiting(); }

AcceptResume& Listener::resume() const { return workers_.front()->accept_resume(); }

void Listener::start() { await_clients(); }

void Listener::await_clients() {
  acceptor_.async_wait(Acceptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    loop_.begin_event();
    on_clients();
  });
}

void Listener::on_clients() {
  if (!acceptor_.is_open()) return;
  const Next next = accept_some();
  if (next == Next::accept || next == Next::wait) return await_clients();
  if (const std::uint32_t newcomers = count_newcomers(acceptor_.native_handle()); newcomers > 0)
    return pause(next, newcomers);
  end_pause();
  await_clients();
}

// Pauses until a connection has ended, or for kPause: more clients may come, and descriptors not
// used by clients may become free.
void Listener::pause(Next why, std::uint32_t newcomers) {
  begin_pause(why);
  pause_timer_.set(Clock::now() + kPause);
  resume().wait(newcomers);
  // Counts again after wait(): a connection may have ended since the cap was reached.
  if (why == Next::at_cap) resume_below_cap();
}

void Listener::set_most_connections(std::uint32_t most) {
  most_connections_ = most;
  addresses_.grow(most);
  resume_below_cap();
}

void Listener::resume_below_cap() {
  if (connections() < most_connections_ && resume().stop_waiting()) await_clients();
}

std::uint32_t Listener::connections() const {
  std::uint32_t sum = 0;
  for (const auto& worker : workers_) sum += worker->connections();
  return sum;
}

Listener::Next Listener::accept_some() {
  for (int accepted = 0; accepted < kAcceptsInARow; ++accepted) {
    std::uint32_t connections = 0;
    loads_.clear();
    for (const auto& worker : workers_) {
      loads_.push_back({worker->connections(), worker->gauges().event_loop_lag()});
      connections += loads_.back().connections;
    }
    if (connections >= most_connections_) return Next::at_cap;
    const Next next = accept_one(*workers_[next_worker(loads_)]);
    if (next != Next::accept) return next;
  }
  return Next::accept;
}

Listener::Next Listener::accept_one(Worker& worker) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  // One system call; Asio's accept() would need two more for these flags.
  const int descriptor = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&peer),
                                   &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    switch (errno) {
      case EAGAIN: end_pause(); return Next::wait;
      case EMFILE:
      case ENFILE: return Next::out_of_descriptors;
      case ENOBUFS:
      case ENOMEM: return Next::out_of_memory;
      default: return Next::accept;  // this connection broke before it was accepted (accept(2))
    }
  }
  end_pause();
  admit(descriptor, info_of(peer, workers_.front()->newest_generation().generation()), worker);
  return Next::accept;
}

// Connections are counted by address even without a cap, so that a cap set by a reload includes
// those that are already open.
void Listener::admit(int descriptor, const ClientInfo& client, Worker& worker) {
  if (client.trusted()) return worker.adopt(descriptor, client, {});
  const auto& limits = workers_.front()->newest_generation().config().limits;
  const std::uint32_t cap = limits.connections_per_address.value_or(UINT32_MAX);
  auto place = addresses_.admit(client.peer.address, cap);
  if (!place) return refuse(descriptor, client, cap);
  worker.adopt(descriptor, client, std::move(*place));
}

void Listener::refuse(int descriptor, const ClientInfo& client, std::uint32_t cap) {
  reset(descriptor);
  refused_by_address_.add();
  if (!refusal_lines_.try_take(1, 1, Clock::now())) return;
  workers_.front()->log().message(observe::Level::warn,
                                  "closed a connection of " + std::string(client.address()) +
                                      ": it has " + std::to_string(cap) +
                                      " already (limits.connections_per_address)");
}

// A pause lasts until a connection is accepted again or the backlog is empty.
void Listener::begin_pause(Next why) {
  if (std::exchange(paused_, true)) return;
  (why == Next::at_cap ? pauses_for_connections_ : pauses_for_descriptors_).add();
  if (!pause_lines_.try_take(1, 1, Clock::now())) return;
  std::string line = "accepting pauses: ";
  if (why == Next::at_cap) {
    line += std::to_string(most_connections_) +
            " client connections are open, as many as may be (limits.connections, limit of open "
            "files)";
  } else {
    line +=
        why == Next::out_of_memory ? "the system is out of memory" : "no file descriptors are left";
  }
  workers_.front()->log().message(observe::Level::warn, line);
}

void Listener::end_pause() {
  paused_ = false;
  resume().none_waits();
}

void Listener::stop() {
  if (!acceptor_.is_open()) return;
  while (accept_some() == Next::accept) {
  }
  end_pause();
  pause_timer_.cancel();
  resume().stop_waiting();
  boost::system::error_code ignored;
  acceptor_.close(ignored);
}

void Listener::read_snapshot(observe::ListenerSnapshot& snapshot) const {
  snapshot.refused_by_address = refused_by_address_.value();
  snapshot.pauses_for_connections = pauses_for_connections_.value();
  snapshot.pauses_for_descriptors = pauses_for_descriptors_.value();
}

}  // namespace spillway::proxy
