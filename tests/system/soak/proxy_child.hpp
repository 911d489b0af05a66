// The real binary as a child of the soak, its log in a file, watched from outside, by any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "system/soak/wire.hpp"

namespace spillway::soak {

class ProxyChild {
 public:
  // Starts `binary` with a configuration and waits until it listens. Throws std::runtime_error when
  // it does not.
  ProxyChild(const std::string& binary, const std::string& settings, std::string log);
  ~ProxyChild();  // SIGKILL if it still runs
  ProxyChild(const ProxyChild&) = delete;
  ProxyChild& operator=(const ProxyChild&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint16_t admin_port() const { return admin_port_; }
  void signal(int number);
  // The exit code, 128 + n after signal n; nullopt when it still runs by then.
  std::optional<int> wait(Milliseconds within);
  bool runs() { return !wait(Milliseconds{0}); }

  std::size_t resident_bytes() const;             // VmRSS
  std::size_t descriptors() const;                // open files
  std::string page(std::string_view path) const;  // of the operator; empty when it does not come
  std::string log() const;
  // The first line of its log by a sanitizer, an assertion or an exception; empty: there is none.
  std::string complaint() const;

 private:
  pid_t pid_ = -1;
  std::string log_;
  std::mutex reaping_;
  std::optional<int> exit_code_;
  std::uint16_t port_ = 0;
  std::uint16_t admin_port_ = 0;
};

}  // namespace spillway::soak
