#include "system/soak/backend.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/sockets.hpp"
#include "system/soak/expected.hpp"
#include "system/soak/faults.hpp"

namespace spillway::soak {

namespace {

constexpr Milliseconds kPatience{30'000};
constexpr std::size_t kPaced = 16 * 1024;
constexpr std::size_t kMostKept = 10;

}  // namespace

Backend::Backend() {
  listen();
  acceptor_ = std::thread([this] { accept_all(); });
}

Backend::~Backend() {
  ending_ = true;
  die();
  acceptor_.join();
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return connections_ == 0; });
}

// Again on the port it had.
void Backend::listen() {
  const int socket = support::bind_to_loopback(port_);
  port_ = support::port_of(socket);
  ::listen(socket, 1024);
  listener_ = socket;
}

void Backend::die() {
  const std::lock_guard lock(mutex_);
  if (const int listener = listener_.exchange(-1); listener >= 0) ::close(listener);
  for (Wire* wire : wires_) wire->interrupt();
}

void Backend::revive() {
  const std::lock_guard lock(mutex_);
  if (listener_ < 0) listen();
}

void Backend::accept_all() {
  while (!ending_) {
    int listener = -1;
    int socket = -1;
    {
      const std::lock_guard lock(mutex_);
      listener = listener_;
      if (listener >= 0) socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    }
    if (socket >= 0) {
      ++connections_;
      std::thread([this, socket] { serve(socket); }).detach();
      continue;
    }
    // Not forever: die() closes what is polled here.
    pollfd ready{listener, POLLIN, 0};
    ::poll(&ready, 1, 20);
  }
}

std::vector<std::string> Backend::smuggled() const {
  const std::lock_guard lock(mutex_);
  return smuggled_;
}

void Backend::serve(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  {
    Wire wire(socket);
    const auto place = [&] {
      const std::lock_guard lock(mutex_);
      return wires_.insert(wires_.end(), &wire);
    }();
    try {
      for (bool more = true; more && !ending_;) {
        support::Message head;
        more = wire.read_head(head, kPatience) == Wire::Read::done && answer(wire, head);
      }
    } catch (const std::runtime_error&) {
      const std::lock_guard lock(mutex_);
      if (smuggled_.size() < kMostKept) smuggled_.push_back("what is no HTTP: " + wire.received());
    }
    const std::lock_guard lock(mutex_);
    wires_.erase(place);
  }
  const std::lock_guard lock(mutex_);
  --connections_;
  left_.notify_all();
}

bool Backend::answer(Wire& wire, support::Message& head) {
  ++requests_;
  const std::string target = head.target();
  if (target.find(kSmuggled) != std::string::npos) {
    const std::lock_guard lock(mutex_);
    if (smuggled_.size() < kMostKept) smuggled_.push_back(head.start_line);
  }
  const Milliseconds delay{slow_by_ + static_cast<int>(number(target, "delay", 0))};
  if (head.field("Upgrade")) {
    echo(wire);
    return false;
  }
  if (number(target, "events", 0) > 0) return give_events(wire, target);
  support::Message request;
  const bool early = number(target, "early", 0) > 0;
  if (early) request = head;
  if (!early && !read_body(wire, head, request)) return false;
  // A pause in which the proxy says nothing, unless it leaves.
  if (delay.count() > 0 && wire.read_some(delay) != Wire::Read::late) return false;
  const std::string_view fault = parameter(target, "fault");
  if (fault.empty()) return give(wire, request) && !early;
  ++faults_;
  play_fault(wire, fault, target);
  return false;
}

bool Backend::read_body(Wire& wire, const support::Message& head, support::Message& request) {
  if (head.field("Expect") && !wire.send("HTTP/1.1 100 Continue\r\n\r\n", kPatience)) return false;
  // The head once more in front of it, since framing says how to go on.
  std::string front = head.start_line + "\r\n";
  for (const auto& [name, value] : head.fields) front += name + ": " + value + "\r\n";
  wire.received().insert(0, front + "\r\n");
  return wire.read(request, support::Expected::request, kPatience) == Wire::Read::done;
}

bool Backend::give(Wire& wire, const support::Message& request) {
  const std::string target = request.target();
  for (std::size_t n = number(target, "interim", 0); n > 0; --n) {
    if (!wire.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n", kPatience)) return false;
  }
  const std::string line = line_of(target, request.field("X-Language").value_or(""),
                                   request.field("Authorization").value_or(""));
  const bool is_receipt = request.method() == "POST" || request.method() == "PUT";
  std::string body =
      is_receipt ? receipt(target, request.body) : body_of(line, number(target, "size", 64));
  const std::string_view age = parameter(target, "cache");
  std::string lines = std::string(kBackendField) + ": " + std::to_string(port_) + "\r\n";
  if (!age.empty()) {
    lines += "Cache-Control: max-age=" + std::string(age) + "\r\nVary: X-Language\r\n";
    lines += "ETag: " + entity_tag(line) + "\r\n";
    if (request.field("If-None-Match") == entity_tag(line))
      return wire.send("HTTP/1.1 304 Not Modified\r\n" + lines + "\r\n", kPatience);
  }
  const std::string_view framing = parameter(target, "framing");
  const bool has_body = request.method() != "HEAD";
  if (framing == "chunked") {
    lines += "Transfer-Encoding: chunked\r\n";
    const std::size_t half = body.size() / 2;
    std::vector<std::string> parts{body.substr(0, half), body.substr(half)};
    std::erase(parts, "");
    body = support::chunked(parts, "X-Trailer: t\r\n");
  } else if (framing == "close") {
    lines += "Connection: close\r\n";
  } else {
    lines += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  std::string answer = "HTTP/1.1 200 OK\r\n" + lines + "\r\n";
  if (has_body) answer += body;
  const Milliseconds pace{number(target, "pace", 0)};
  for (std::string_view rest = answer; !rest.empty();
       rest.remove_prefix(std::min(rest.size(), kPaced))) {
    if (pace.count() > 0 && wire.read_some(pace) != Wire::Read::late) return false;
    if (pace.count() == 0) return wire.send(rest, kPatience) && framing != "close";
    if (!wire.send(rest.substr(0, kPaced), kPatience)) return false;
  }
  return framing != "close";
}

bool Backend::give_events(Wire& wire, std::string_view target) {
  const std::size_t events = number(target, "events", 1);
  const Milliseconds delay{number(target, "delay", 20)};
  const std::string event = "data: " + line_of(target) + "\n";
  if (!wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
                     std::string(kBackendField) + ": events\r\nTransfer-Encoding: chunked\r\n\r\n",
                 kPatience)) {
    return false;
  }
  for (std::size_t n = 0; n < events; ++n) {
    const std::string chunk = support::chunked({event});
    if (!wire.send(chunk.substr(0, chunk.size() - 5), kPatience)) return false;
    if (wire.read_some(delay) != Wire::Read::late) return false;
  }
  return wire.send("0\r\n\r\n", kPatience);
}

void Backend::echo(Wire& wire) {
  bool open = wire.send(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
      kPatience);
  while (open) {
    std::string bytes = std::exchange(wire.received(), {});
    open = wire.send(bytes, kPatience) && wire.read_some(kPatience) == Wire::Read::done;
  }
}

}  // namespace spillway::soak
