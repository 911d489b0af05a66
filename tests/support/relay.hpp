// A way to a Unix socket that can be cut, or be slow: bytes go through it both ways until then.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>

#include "support/event.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class Relay {
 public:
  // From a socket of the same name in a directory of its own to this one.
  explicit Relay(const std::filesystem::path& to);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::filesystem::path directory() const { return directory_.path(); }
  // What is connected is closed, and so is what connects, until it is mended.
  void cut() { is_cut_ = true; }
  void mend() { is_cut_ = false; }
  // From now on no more than so many bytes go through it in a second.
  void slow_down(std::size_t bytes_a_second) { most_a_second_ = bytes_a_second; }

 private:
  void run();

  TemporaryDirectory directory_;
  const std::filesystem::path to_;
  int listener_ = -1;
  Event ending_;
  std::atomic<bool> is_cut_{false};
  std::atomic<std::size_t> most_a_second_{0};  // 0: as many as come
  std::thread thread_;
};

}  // namespace spillway::support
