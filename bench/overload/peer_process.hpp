// A contender's process, from its start until it has ended. It ends with its parent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace spillway::bench {

class PeerProcess {
 public:
  // Starts `command` on the core `core`; what it says goes to the file `log`. Throws
  // std::system_error if it cannot be started.
  PeerProcess(const std::vector<std::string>& command, const std::string& log, int core);
  ~PeerProcess();  // SIGTERM, after three seconds SIGKILL; its children end with it
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running();

  // Waits until something accepts connections on the loopback port; false: the process has ended,
  // ten seconds have passed, or `stopped` says so.
  bool await_port(std::uint16_t port, bool (*stopped)());

 private:
  bool ended_within(Duration patience);

  pid_t pid_ = -1;
  bool ended_ = false;
};

// A port of 127.0.0.1 without a listener a moment ago. Throws std::system_error.
std::uint16_t free_port();

// The last lines of a file, at most `bytes`; empty if there is none.
std::string end_of_file(const std::string& path, std::size_t bytes);

}  // namespace spillway::bench
