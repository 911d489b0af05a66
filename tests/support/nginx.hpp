// A real NGINX, in a directory of its own on a free port of 127.0.0.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class Nginx {
 public:
  struct Process {
    std::size_t connections = 1024;       // worker_connections: of clients and servers
    std::vector<std::string> under = {};  // the command it is to run under, as for ProxyProcess
  };

  // `server`: the directives inside the server block, but for `listen`; its root is files().
  // `http`: those before it; relative paths are of the directory. One worker process. Throws
  // std::runtime_error when it does not come up, with its words.
  explicit Nginx(std::string_view server, std::string_view http = {})
      : Nginx(server, http, Process{}) {}
  Nginx(std::string_view server, std::string_view http, const Process& process);
  ~Nginx();  // asks it to end, then kills
  Nginx(const Nginx&) = delete;
  Nginx& operator=(const Nginx&) = delete;

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::filesystem::path files() const { return directory_.path() / "files"; }

 private:
  void start(std::string_view server, std::string_view http, const Process& process);
  bool accepts(Milliseconds within);

  TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
  std::optional<ChildProcess> process_;
};

}  // namespace spillway::support
