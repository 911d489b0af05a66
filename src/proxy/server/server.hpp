// The whole proxy: workers, listener, control thread and admin listener, from start to drained.
#pragma once

#include <cstdint>
#include <memory>

#include "config/config.hpp"
#include "proxy/generation/read_configuration.hpp"

namespace spillway::proxy {

class Server {
 public:
  // Reads the configuration again, for a reload.
  using LoadConfig = proxy::LoadConfig;

  // Looks up the servers; throws BadConfiguration when one has no address. Without `load` the
  // configuration cannot be reloaded. `load` may still be running after this has ended, if reading
  // the file takes so long: it must hold all that it uses.
  explicit Server(config::Config config, LoadConfig load = {});
  ~Server();  // stops at once
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and serves; throws std::runtime_error when it cannot bind.
  void start();
  // The ports listened on, which the system chose where the configuration says 0. After start().
  std::uint16_t port() const;
  std::uint16_t admin_port() const;

  // start(), then blocks until a signal: SIGTERM drains (a second one, or SIGINT, ends at once);
  // SIGHUP reloads the configuration. Signals count from before the first connection is accepted.
  // Returns the exit code.
  int serve_until_signalled();

  // Stops accepting and lets what runs finish; drained() once every client connection is closed.
  void begin_drain();
  bool drained() const;
  // Ends everything at once.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::proxy
