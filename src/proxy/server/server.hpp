// The whole proxy, from start to drained: workers, listener, control thread and admin listener.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/time.hpp"
#include "config/file/load.hpp"

namespace spillway::proxy {

// Thrown at start-up if the configuration has problems.
struct BadConfiguration : std::runtime_error {
  explicit BadConfiguration(config::Problems its_problems)
      : std::runtime_error(its_problems.front().path + ": " + its_problems.front().message),
        problems(std::move(its_problems)) {}
  config::Problems problems;  // at least one
};

class Server {
 public:
  // Resolves the servers; throws BadConfiguration if one has no address. Without `load` the
  // configuration cannot be reloaded. `load` may still be running after the destructor, if reading
  // blocks: it must own everything that it uses.
  explicit Server(config::Config config, config::LoadConfig load = {});
  ~Server();  // stops at once
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and serves; throws std::runtime_error if it cannot bind.
  void start();
  // The listening ports, after start(). admin_port(): 0 while a draining Spillway has the port.
  std::uint16_t port() const;
  std::uint16_t admin_port() const;

  // start(), then blocks until SIGTERM or SIGQUIT (drains, after limits.drain_delay_ms; a second
  // one stops at once) or SIGINT (stops at once). SIGHUP reloads the configuration. SIGUSR1 and
  // SIGUSR2, which other proxies use, do nothing. Signals are handled from before the first
  // connection is accepted. Returns the exit code.
  int serve_until_signalled();

  // From here on /readyz is 503; all else goes on. begin_drain() should follow after `delay`.
  void begin_drain_delay(Milliseconds delay);
  // Stops accepting and lets running requests finish; drained() once all client connections are
  // closed.
  void begin_drain();
  bool drained() const;
  // Closes all connections and joins the threads.
  void stop();

 private:
  struct Parts;
  class SignalLoop;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::proxy
