// An upstream that answers as it should, or does wrong what the first segment of the target names:
// "/good/17" is answered, "/resets-in-body/17" is broken off.
//
// A right answer is 200 with body_of(target), so that whoever asked sees whether it is his, and
// whole. HEAD is answered with the same head. "/cached/..." may be stored; "/cached/vast/..." is
// more than the buffers of a connection hold.
// "/tunnel/17" switches to websocket and says each line back behind its target; "/events/17" sends
// one event that holds its target and stays open. "/failing/17" is answered 500, "/works-on/17"
// when end_work() says so: it sees nothing of a proxy that leaves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/scripted_peer.hpp"

namespace spillway::support {

class FaultyBackend {
 public:
  FaultyBackend();

  std::uint16_t port() const { return peer_.port(); }
  std::string address() const { return peer_.address(); }

  // How often a request for this target has come.
  std::size_t times_asked(const std::string& target) const;
  // False if none comes.
  bool wait_asked(const std::string& target, Milliseconds within = kPatience) const;
  // The most requests that have been at work at once: whose head had come and whose answer had not
  // begun.
  std::size_t most_at_work() const { return at_work_.most; }
  std::size_t open_connections() const { return peer_.open(); }
  // All that have come.
  std::size_t requests() const { return peer_.requests(); }

  // From now on it does this, whatever the targets say; empty: what they say.
  void always(const std::string& fault);

  // What it works on is answered, now and later.
  void end_work() { work_ends_.set(); }

  // What it can do wrong.
  static std::vector<std::string> faults();

 private:
  struct AtWork {
    std::atomic<std::size_t> now{0};
    std::atomic<std::size_t> most{0};
  };

  void play(PeerConnection& proxy);

  AtWork at_work_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, std::size_t> asked_;
  std::string always_;
  Event work_ends_;
  ScriptedPeer peer_;
};

// The body of the right answer to a request for this target: small, of several reads, or (for
// every third number at its end) more than a proxy's block.
std::string body_of(std::string_view target);

// A port of 127.0.0.1 where a connection is never accepted nor refused, as at a host that is gone.
class SilentPort {
 public:
  SilentPort();  // throws std::system_error
  ~SilentPort();
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  std::uint16_t port_ = 0;
  std::vector<int> sockets_;
};

}  // namespace spillway::support
