#include "system/wire/play.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <stdexcept>
#include <system_error>

namespace spillway::conformance {

using support::Deadline;
using support::Expected;
using support::Milliseconds;

namespace {

// For a proxy to end the connection of a client that has said it is done.
constexpr Milliseconds kFarewell{250};

class Client {
 public:
  Client(std::uint16_t port, bool is_head, Backend& backend, Seen& seen)
      : is_head_(is_head),
        backend_(backend),
        seen_(seen),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::system_error(errno, std::generic_category(), "connect");
    }
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool ended() const { return ended_; }
  bool garbled() const { return garbled_; }

  // Sends, and reads what comes meanwhile. Ends early when the other side takes no more.
  void send(std::string_view bytes, Milliseconds within) {
    const Deadline deadline(within);
    while (!bytes.empty() && wait_and_read(POLLIN | POLLOUT, deadline)) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    }
  }

  // Reads until that is so, nothing more comes, or patience is at its end.
  void read_until(const std::function<bool()>& enough, Milliseconds within) {
    const Deadline deadline(within);
    while (!enough() && wait_and_read(POLLIN, deadline)) {
    }
  }

  void half_close() { ::shutdown(socket_, SHUT_WR); }

 private:
  // False at the end of the connection or the deadline.
  bool wait_and_read(short events, const Deadline& deadline) {
    if (ended_ || !support::wait_ready(socket_, events, deadline)) return false;
    std::array<char, 65536> block;
    const ssize_t size = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
    if (size > 0) {
      seen_.rest.append(block.data(), static_cast<std::size_t>(size));
      take_messages();
      backend_.client_received();
      return true;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    ended_ = true;
    seen_.reset = size < 0;
    take_messages();
    return false;
  }

  void take_messages() {
    try {
      while (!garbled_) {
        auto message =
            support::take_message(seen_.rest, is_head_ ? Expected::head_only : Expected::response,
                                  ended_ && !seen_.reset);
        if (!message) return;
        const bool is_interim = message->status() < 200 && message->status() != 101;
        (is_interim ? seen_.interim : seen_.responses).push_back(*std::move(message));
      }
    } catch (const std::runtime_error&) {
      garbled_ = true;
    }
  }

  bool is_head_;
  Backend& backend_;
  Seen& seen_;
  int socket_;
  bool ended_ = false;
  bool garbled_ = false;
};

std::string another_request(bool is_head) {
  return std::string(is_head ? "HEAD " : "GET ") + std::string(kAnother) +
         " HTTP/1.1\r\nHost: a.example\r\n\r\n";
}

void act(const Act& act, Client& client, Backend& backend, Seen& seen, Milliseconds patience) {
  switch (act.kind) {
    case Act::Kind::send:
      seen.got_early = !seen.interim.empty() || !seen.responses.empty();
      client.send(act.bytes, patience);
      break;
    case Act::Kind::await_interim:
      client.read_until([&] { return !seen.interim.empty() || !seen.responses.empty(); }, patience);
      break;
    case Act::Kind::await_response:
      client.read_until([&] { return !seen.responses.empty(); }, patience);
      break;
    case Act::Kind::await_backend: backend.wait_head(patience); break;
    case Act::Kind::await_answered: backend.wait_answered(patience); break;
    case Act::Kind::half_close: client.half_close(); break;
    case Act::Kind::leave: break;
  }
}

void read_what_is_due(const Case& play, Client& client, Seen& seen, Milliseconds patience) {
  client.read_until([&] { return client.garbled() || seen.responses.size() >= play.due(); },
                    patience);
  if (play.wants_open() && !client.ended() && seen.rest.empty()) {
    client.send(another_request(play.is_head()), patience);
    client.read_until([&] { return seen.responses.size() > play.due(); }, patience);
    if (seen.responses.size() == play.due() + 1) {
      const Message& last = seen.responses.back();
      seen.stays_open = last.status() == 200 && (play.is_head() || last.body == kAnotherBody);
      if (seen.stays_open) seen.responses.pop_back();
    }
  } else if (play.wants_closed()) {
    client.read_until([] { return false; }, patience);
  }
  seen.closed = client.ended();
  // Whatever else the proxy took for a request gets its answer now.
  client.half_close();
  client.read_until([] { return false; }, kFarewell);
}

void judge_backend(const std::vector<std::string>& received, Seen& seen) {
  for (const std::string& bytes : received) {
    seen.received.push_back(bytes);
    Reading reading = read_strictly(bytes);
    if (!reading.trouble.empty()) {
      seen.backend_trouble = reading.trouble;
    } else if (const std::size_t lenient = lenient_count(bytes); lenient != reading.begun) {
      seen.backend_trouble = std::to_string(reading.begun) + " requests when it is strict and " +
                             std::to_string(lenient) + " when it is lenient";
    }
    seen.begun += reading.begun;
    for (Message& request : reading.requests) {
      if (request.target() != kAnother) seen.requests.push_back(std::move(request));
    }
  }
}

}  // namespace

Seen play(const Case& play, std::uint16_t port, Backend& backend, Milliseconds patience) {
  Seen seen;
  backend.begin(play.answers());
  {
    Client client(port, play.is_head(), backend, seen);
    for (const Act& each : play.acts()) act(each, client, backend, seen, patience);
    const bool leaves = !play.acts().empty() && play.acts().back().kind == Act::Kind::leave;
    if (!leaves) read_what_is_due(play, client, seen, patience);
  }
  judge_backend(backend.end(), seen);
  return seen;
}

}  // namespace spillway::conformance
