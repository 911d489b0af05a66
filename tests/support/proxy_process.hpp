// The built binary serving as a child process, on free ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "support/child_process.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class ProxyProcess {
 public:
  // `settings` as for ProxyUnderTest. Throws std::runtime_error when it does not come up.
  explicit ProxyProcess(nlohmann::json settings);

  std::uint16_t port() const { return port_; }
  std::uint16_t admin_port() const { return admin_port_; }
  ChildProcess& process() { return process_; }
  // The most memory it ever had in RAM (VmHWM), in bytes.
  std::size_t peak_memory() const;

 private:
  TemporaryDirectory directory_;
  ChildProcess process_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
};

}  // namespace spillway::support
