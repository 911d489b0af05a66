#include "support/mortal_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "support/sockets.hpp"

namespace spillway::support {

struct MortalServer::Loop {
  using Time = std::chrono::steady_clock::time_point;

  struct Connection {
    int descriptor;
    std::string received = {};
    bool answers = false;
    Time due = {};
    int status = 0;
  };

  Loop(MortalServer& of, Milliseconds service_time)
      : server(of), service(service_time), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    // A port that the kernel chose is lost with the last use of it; one that was asked for is kept.
    const int chosen = bind_to_loopback(0);
    port = port_of(chosen);
    listener = bind_to_loopback(port);
    ::close(chosen);
    thread = std::thread([this] { run(); });
  }
  ~Loop() {
    ending = true;
    ::eventfd_write(wake, 1);
    thread.join();
    close_all();
    ::close(listener);
    ::close(wake);
  }

  void run() {
    while (!ending) {
      live_or_die();
      const int wait = wait_until_due();
      std::vector<pollfd> polled{{wake, POLLIN, 0}};
      if (server.listening_) polled.push_back({listener, POLLIN, 0});
      for (const Connection& each : connections)
        polled.push_back({each.descriptor, static_cast<short>(each.answers ? 0 : POLLIN), 0});
      ::poll(polled.data(), polled.size(), wait);
      eventfd_t value;
      ::eventfd_read(wake, &value);
      for (Connection& each : connections) serve(each);
      std::erase_if(connections, [](const Connection& each) { return each.descriptor < 0; });
      if (server.listening_) accept_all();
      server.connections_ = connections.size();
    }
  }

  void live_or_die() {
    if (server.alive_ == server.listening_) return;
    if (server.alive_) {
      ::listen(listener, 512);
    } else {
      ::shutdown(listener, SHUT_RDWR);  // still bound, so that nobody else takes the port
      close_all();
    }
    server.listening_ = server.alive_.load();
  }

  int wait_until_due() const {
    const Time now = std::chrono::steady_clock::now();
    int wait = -1;
    for (const Connection& each : connections) {
      if (!each.answers) continue;
      const auto left = std::chrono::ceil<Milliseconds>(each.due - now).count();
      const int most = static_cast<int>(std::max<std::int64_t>(left, 0));
      wait = wait < 0 ? most : std::min(wait, most);
    }
    return wait;
  }

  void accept_all() {
    for (;;) {
      const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (accepted < 0) return;
      ++server.accepted_;
      connections.push_back({accepted});
    }
  }

  void serve(Connection& connection) {
    const Time now = std::chrono::steady_clock::now();
    if (!connection.answers) {
      std::array<char, 4096> bytes;
      const ssize_t received = ::recv(connection.descriptor, bytes.data(), bytes.size(), 0);
      if (received < 0 && errno == EAGAIN) return;
      if (received <= 0) return end(connection);
      connection.received.append(bytes.data(), static_cast<std::size_t>(received));
      const std::size_t head_end = connection.received.find("\r\n\r\n");
      if (head_end == std::string::npos) return;
      const bool is_check = connection.received.starts_with("GET /up ");
      ++(is_check ? server.checks_ : server.requests_);
      connection.status = is_check ? server.check_status_ : server.status_;
      connection.received.erase(0, head_end + 4);
      connection.answers = true;
      connection.due = is_check ? now : now + service;
    }
    if (now < connection.due) return;
    connection.answers = false;
    const std::string answer =
        "HTTP/1.1 " + std::to_string(connection.status) + " Said\r\nContent-Length: 2\r\n\r\nhi";
    if (::send(connection.descriptor, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
      end(connection);
  }

  static void end(Connection& connection) {
    ::close(connection.descriptor);
    connection.descriptor = -1;
  }

  void close_all() {
    for (const Connection& each : connections) ::close(each.descriptor);
    connections.clear();
  }

  MortalServer& server;
  Milliseconds service;
  int wake;
  int listener = -1;
  std::uint16_t port = 0;
  std::vector<Connection> connections;
  std::atomic<bool> ending{false};
  std::thread thread;
};

MortalServer::MortalServer(Milliseconds service) {
  loop_ = std::make_unique<Loop>(*this, service);
  revive();
}

MortalServer::~MortalServer() = default;

std::string MortalServer::address() const { return "127.0.0.1:" + std::to_string(loop_->port); }

void MortalServer::die() {
  alive_ = false;
  ::eventfd_write(loop_->wake, 1);
  while (listening_) std::this_thread::yield();
}

void MortalServer::revive() {
  alive_ = true;
  ::eventfd_write(loop_->wake, 1);
  while (!listening_) std::this_thread::yield();
}

}  // namespace spillway::support
