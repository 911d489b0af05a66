// A real HAProxy, with a configuration of its own on free ports of 127.0.0.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::support {

class HAProxy {
 public:
  // `text`: the configuration, in which "{port 0}", "{port 1}" and so on stand for free ports.
  // `under`: the command it is to run under, as for ProxyProcess. Throws std::runtime_error when it
  // does not come up, with its words.
  explicit HAProxy(std::string_view text, const std::vector<std::string>& under = {});
  ~HAProxy();  // asks it to end, then kills
  HAProxy(const HAProxy&) = delete;
  HAProxy& operator=(const HAProxy&) = delete;

  std::uint16_t port(std::size_t number = 0) const { return ports_.at(number); }

 private:
  void start(std::string_view text, const std::vector<std::string>& under);
  bool accepts(Milliseconds within);

  TemporaryDirectory directory_;
  std::vector<std::uint16_t> ports_;
  std::optional<ChildProcess> process_;
};

}  // namespace spillway::support
