// How fast a client takes what is sent to it, watched only while bytes wait to be taken.
//
// A socket that becomes writable says little: the kernel holds megabytes and announces room in
// pieces of a third of that, minutes apart for a client of modest speed. So when the time seems to
// be over the kernel is asked how much the client has acknowledged (SIOCOUTQ), and only then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/min_rate.hpp"

namespace spillway::proxy {

// limits.min_rate_bytes begins to count after so long, for bodies and for answers.
inline constexpr Duration kRateGrace = std::chrono::seconds(5);

class SendRateMonitor {
 public:
  // An answer begins. min_rate: bytes per second, 0: any; idle_timeout: without any progress.
  void begin(std::uint64_t min_rate, Duration idle_timeout);
  // So many bytes of it went into the socket.
  void sent(std::size_t bytes) { untaken_ += bytes; }

  // It is the client's turn: no more goes into the socket. Until stop().
  void wait(int socket, TimePoint now);
  void stop(TimePoint now);

  // When judge() is due; kNever while it is not the client's turn.
  TimePoint deadline() const;
  enum class Verdict : std::uint8_t { fast_enough, idle, too_slow };
  Verdict judge(int socket, TimePoint now);

 private:
  // True when the client has taken something since the kernel was last asked.
  bool look(int socket, TimePoint now);

  resilience::MinRate rate_;
  Duration idle_timeout_{};
  bool has_waited_ = false;    // for this answer
  std::uint64_t untaken_ = 0;  // bytes in the kernel when it was last asked, and sent since
  TimePoint idle_until_ = kNever;
};

}  // namespace spillway::proxy
