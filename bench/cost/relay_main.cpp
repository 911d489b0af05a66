// spillway-bench-relay: passes bytes between its clients and one backend, knowing nothing of HTTP:
// the least that anything in between can cost. One thread, one epoll, one backend connection for
// each client. Serves until it is ended by a signal.
//
//   spillway-bench-relay BACKEND-PORT     prints the port of 127.0.0.1 that it listens on
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// One of the two sockets of a connection, and what could not be written to it yet.
struct End {
  int peer = -1;
  std::string waiting;
};

class Relay {
 public:
  explicit Relay(int backend_port) : backend_(loopback(backend_port)), epoll_(epoll_create1(0)) {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (epoll_ < 0 || listener_ < 0) fail("socket");
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0) fail("bind");
    if (listen(listener_, 4096) != 0) fail("listen");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events{};
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) serve(events[static_cast<std::size_t>(i)]);
    }
  }

 private:
  void serve(const epoll_event& event) {
    if (event.data.fd == listener_) return accept_all();
    const auto end = ends_.find(event.data.fd);
    if (end == ends_.end()) return;  // its other end was closed in this round
    if (event.events & EPOLLOUT) return flush(event.data.fd, end->second);
    forward(event.data.fd, end->second.peer);
  }

  void accept_all() {
    for (;;) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (client < 0) return;
      const int server = socket(AF_INET, SOCK_STREAM, 0);
      if (server < 0 ||
          connect(server, reinterpret_cast<const sockaddr*>(&backend_), sizeof backend_) != 0) {
        fail("the backend does not take a connection");
      }
      const int on = 1;
      for (const int each : {client, server}) {
        setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(each, EPOLLIN, EPOLL_CTL_ADD);
      }
      ends_[client] = {.peer = server, .waiting = {}};
      ends_[server] = {.peer = client, .waiting = {}};
    }
  }

  // While a peer cannot take what was read, no more is read: its socket is watched for room alone.
  void forward(int from, int to) {
    const ssize_t got = recv(from, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return close_both(from, to);
    const ssize_t sent =
        send(to, buffer_.data(), static_cast<std::size_t>(got), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return close_both(from, to);
    if (sent == got) return;
    const auto taken = static_cast<std::size_t>(sent < 0 ? 0 : sent);
    ends_[to].waiting.assign(buffer_.data() + taken, static_cast<std::size_t>(got) - taken);
    watch(from, 0, EPOLL_CTL_MOD);
    watch(to, EPOLLOUT, EPOLL_CTL_MOD);
  }

  void flush(int to, End& end) {
    const ssize_t sent =
        send(to, end.waiting.data(), end.waiting.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return close_both(to, end.peer);
    end.waiting.erase(0, static_cast<std::size_t>(sent));
    if (!end.waiting.empty()) return;
    watch(to, EPOLLIN, EPOLL_CTL_MOD);
    watch(end.peer, EPOLLIN, EPOLL_CTL_MOD);
  }

  void close_both(int one, int other) {
    for (const int each : {one, other}) {
      close(each);
      ends_.erase(each);
    }
  }

  void watch(int descriptor, std::uint32_t events, int operation) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    if (epoll_ctl(epoll_, operation, descriptor, &event) != 0) fail("epoll_ctl");
  }

  sockaddr_in backend_;
  int epoll_;
  int listener_;
  std::unordered_map<int, End> ends_;
  std::vector<char> buffer_ = std::vector<char>(65536);
};

}  // namespace

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 0;
  if (port < 1 || port > 65535) {
    std::fprintf(stderr, "usage: %s BACKEND-PORT\n", argv[0]);
    return 2;
  }
  Relay(port).run();
}
