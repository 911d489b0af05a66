// Notifications to the service manager (systemd), with the protocol of sd_notify(3): datagrams of
// "NAME=value" lines to the socket named by $NOTIFY_SOCKET. Does nothing without it; errors are
// ignored. libsystemd is not used: the protocol needs only a sendto().
#pragma once

#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "proxy/net/heartbeat.hpp"
#include "proxy/server/watchdog.hpp"

namespace spillway::proxy {

// Environment variables set by the service manager; empty if unset.
struct ServiceEnvironment {
  std::string_view notify_socket;  // an absolute path, or "@" and a name in the abstract namespace
  std::string_view watchdog_usec;
  std::string_view watchdog_pid;  // the process to watch; empty: this one

  static ServiceEnvironment of_process();
};

class Supervisor {
 public:
  // All members must be called on the thread of `io`, which also runs the watchdog timer.
  explicit Supervisor(boost::asio::io_context& io,
                      const ServiceEnvironment& environment = ServiceEnvironment::of_process());
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // READY=1: started, or reloaded. `status`: one line that `systemctl status` shows.
  void ready(std::string_view status);
  // STATUS= alone.
  void status(std::string_view line);
  // RELOADING=1; ready() must follow.
  void reloading(TimePoint now);
  // STOPPING=1.
  void stopping(std::string_view status);
  // If the service has a watchdog: sends WATCHDOG=1 regularly while all these loops beat.
  void feed_watchdog(std::vector<const Heartbeat*> loops);

 private:
  void notify(std::string_view lines);
  void feed_if_alive();

  int socket_ = -1;
  bool last_send_failed_ = false;  // then the next send does not block
  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  std::optional<Duration> watchdog_interval_;
  std::optional<Watchdog> watchdog_;
  boost::asio::steady_timer timer_;
};

}  // namespace spillway::proxy
