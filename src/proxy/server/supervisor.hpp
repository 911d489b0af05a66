// What the service manager (systemd) is told about the process: sd_notify(3)'s protocol, datagrams
// of "NAME=value" lines to the socket named by $NOTIFY_SOCKET. Without one nothing is said, and
// whether anything was heard never matters to serving.
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

// The environment, as the service manager sets it; empty where it sets nothing.
struct ServiceEnvironment {
  std::string_view notify_socket;  // an absolute path, or "@" and a name that is in no file system
  std::string_view watchdog_usec;
  std::string_view watchdog_pid;  // whom the watchdog is for; empty: whoever reads it

  static ServiceEnvironment of_process();
};

class Supervisor {
 public:
  // `io`: the loop that feeds the watchdog, and on whose thread all this is called.
  explicit Supervisor(boost::asio::io_context& io,
                      const ServiceEnvironment& environment = ServiceEnvironment::of_process());
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // It serves, at first or again after reloading(). `status` is a line for the operator.
  void ready(std::string_view status);
  // The same, while it serves: a new line for the operator.
  void status(std::string_view line);
  // It begins to read its configuration again; ready() has to follow.
  void reloading(TimePoint now);
  // It ends, for whatever reason. `status` as above.
  void stopping(std::string_view status);
  // From now on the watchdog, if there is one, is fed while all these loops turn.
  void feed_watchdog(std::vector<const Heartbeat*> loops);

 private:
  void tell(std::string_view lines);
  void keep_feeding();

  int socket_ = -1;
  bool deaf_ = false;  // the last message was not taken: none is waited for until one is
  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  std::optional<Duration> watchdog_interval_;
  std::optional<Watchdog> watchdog_;
  boost::asio::steady_timer timer_;
};

}  // namespace spillway::proxy
