#include "support/haproxy.hpp"

#include <unistd.h>

#include <csignal>
#include <deque>
#include <stdexcept>
#include <system_error>

#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::support {

HAProxy::HAProxy(std::string_view text, const std::vector<std::string>& under) {
  // A port that was free a moment ago may be taken when HAProxy binds it.
  for (int attempt = 0; attempt < 5; ++attempt) {
    start(text, under);
    if (accepts(kPatience)) return;
  }
  throw std::runtime_error("haproxy does not start: " + process_->err());
}

HAProxy::~HAProxy() {
  if (!process_) return;
  process_->signal(SIGTERM);
  process_->wait(Milliseconds{5000});
}

void HAProxy::start(std::string_view text, const std::vector<std::string>& under) {
  process_.reset();
  ports_.clear();
  std::string configuration(text);
  {
    std::deque<RefusingPort> taken;  // all at once, so that no two are the same
    for (;;) {
      const std::string mark = "{port " + std::to_string(ports_.size()) + "}";
      std::size_t at = configuration.find(mark);
      if (at == std::string::npos) break;
      ports_.push_back(taken.emplace_back().port());
      const std::string number = std::to_string(ports_.back());
      for (; at != std::string::npos; at = configuration.find(mark)) {
        configuration.replace(at, mark.size(), number);
      }
    }
  }
  const auto file = directory_.write("haproxy.cfg", configuration);
  // Debian has it in sbin, which is not on every user's PATH.
  const char* program = ::access("/usr/sbin/haproxy", X_OK) == 0 ? "/usr/sbin/haproxy" : "haproxy";
  std::vector<std::string> command = under;
  command.insert(command.end(), {program, "-db", "-f", file});
  process_.emplace(command);
}

bool HAProxy::accepts(Milliseconds within) {
  const Deadline deadline(within);
  for (const std::uint16_t port : ports_) {
    for (bool open = false; !open;) {
      if (deadline.passed() || process_->wait(Milliseconds{5})) return false;
      try {
        RawClient client(port);
        open = true;
      } catch (const std::system_error&) {  // not yet
      }
    }
  }
  return true;
}

}  // namespace spillway::support
