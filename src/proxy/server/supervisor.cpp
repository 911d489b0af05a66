#include "proxy/server/supervisor.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace spillway::proxy {

namespace {

// A service manager that does not read blocks this thread (which handles signals, not requests)
// once, for this long.
constexpr timeval kSendTimeout{.tv_sec = 1, .tv_usec = 0};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Duration> watchdog_interval_of(const ServiceEnvironment& environment) {
  const std::optional<std::int64_t> microseconds = number(environment.watchdog_usec);
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  if (!environment.watchdog_pid.empty() && number(environment.watchdog_pid) != ::getpid()) {
    return std::nullopt;
  }
  return std::chrono::microseconds(*microseconds);
}

// A status may quote a file name or a system message: control characters must not begin a new
// "NAME=value" line, and the datagram must stay small enough to be sent.
std::string one_line(std::string_view status) {
  constexpr std::size_t kMaxStatus = 1024;
  std::string line(status.substr(0, kMaxStatus));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return line;
}

}  // namespace

ServiceEnvironment ServiceEnvironment::of_process() {
  return {.notify_socket = variable("NOTIFY_SOCKET"),
          .watchdog_usec = variable("WATCHDOG_USEC"),
          .watchdog_pid = variable("WATCHDOG_PID")};
}

Supervisor::Supervisor(boost::asio::io_context& io, const ServiceEnvironment& environment)
    : timer_(io) {
  const std::string_view path = environment.notify_socket;
  if (path.size() < 2 || (path[0] != '/' && path[0] != '@')) return;
  if (path.size() >= sizeof address_.sun_path) return;
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, path.data(), path.size());
  address_size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (path[0] == '@') {
    address_.sun_path[0] = '\0';
  } else {
    ++address_size_;  // the terminating NUL of a path
  }
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof kSendTimeout);
  watchdog_interval_ = watchdog_interval_of(environment);
}

Supervisor::~Supervisor() {
  if (socket_ >= 0) ::close(socket_);
}

void Supervisor::ready(std::string_view status) {
  notify("READY=1\nSTATUS=" + one_line(status) + "\n");
}

void Supervisor::status(std::string_view line) { notify("STATUS=" + one_line(line) + "\n"); }

// The service manager identifies a reload by this time.
void Supervisor::reloading(TimePoint now) {
  const auto since_boot =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(since_boot.count()) +
         "\nSTATUS=reading the configuration\n");
}

void Supervisor::stopping(std::string_view status) {
  notify("STOPPING=1\nSTATUS=" + one_line(status) + "\n");
}

void Supervisor::feed_watchdog(std::vector<const Heartbeat*> loops) {
  if (!watchdog_interval_) return;
  watchdog_.emplace(*watchdog_interval_, std::move(loops), Clock::now());
  feed_if_alive();
}

void Supervisor::feed_if_alive() {
  if (watchdog_->may_feed(Clock::now())) notify("WATCHDOG=1\n");
  timer_.expires_at(watchdog_->next_check());
  timer_.async_wait([this](const boost::system::error_code& stopped) {
    if (!stopped) feed_if_alive();
  });
}

void Supervisor::notify(std::string_view lines) {
  if (socket_ < 0) return;
  const int flags = last_send_failed_ ? MSG_DONTWAIT : 0;
  last_send_failed_ = ::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL | flags,
                               reinterpret_cast<const sockaddr*>(&address_), address_size_) < 0;
}

}  // namespace spillway::proxy
