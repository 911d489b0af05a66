// The built binary serving as a child process, on free ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"
#include "support/notify_socket.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class ProxyProcess {
 public:
  // `settings` as for ProxyUnderTest. Throws std::runtime_error when it does not come up.
  // `under`: the command it is to run under, which has to become it at last: {"env", "NAME=value"}.
  explicit ProxyProcess(nlohmann::json settings, std::vector<std::string> under = {});

  // Another text, or other settings, in place of its configuration file.
  void rewrite(const std::string& text) { directory_.write("spillway.json", text); }
  void reconfigure(const nlohmann::json& settings);
  // A pipe that nobody writes to.
  void rewrite_as_pipe();

  std::uint16_t port() const { return port_; }
  std::uint16_t admin_port() const { return admin_port_; }
  ChildProcess& process() { return process_; }
  // The memory it has in RAM now (VmRSS), in bytes.
  std::size_t memory() const;
  std::size_t open_files() const;
  // The most memory it ever had in RAM (VmHWM), in bytes.
  std::size_t peak_memory() const;

 private:
  std::size_t status_bytes(std::string_view key) const;

  TemporaryDirectory directory_;
  NotifySocket notify_;
  ChildProcess process_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
};

}  // namespace spillway::support
