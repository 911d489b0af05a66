// How fast a client acknowledges a response: limits.min_rate_bytes and the idle timeout. The clock
// runs only while the proxy waits for the client.
//
// Writability is too coarse: the kernel buffers megabytes and reports room in steps of a third of
// that, which for a slow client are minutes apart. So once a limit seems to be exceeded, and only
// then, the kernel is asked for the unacknowledged bytes (SIOCOUTQ).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/min_rate.hpp"

namespace spillway::proxy {

// Grace before limits.min_rate_bytes counts, for request bodies and for responses.
inline constexpr Duration kRateGrace = std::chrono::seconds(5);

class SendRateMonitor {
 public:
  // A response begins. min_rate: bytes per second, 0: none; idle_timeout: without any progress.
  void begin(std::uint64_t min_rate, Duration idle_timeout);
  // `bytes` of it were written to the socket.
  void sent(std::size_t bytes) { untaken_ += bytes; }

  // The socket is full: the clock runs until stop().
  void wait(int socket, TimePoint now);
  void stop(TimePoint now);

  // When judge() is due; kNever while the clock does not run.
  TimePoint deadline() const;
  enum class Verdict : std::uint8_t { fast_enough, idle, too_slow };
  Verdict judge(int socket, TimePoint now);

 private:
  // True if the client has acknowledged bytes since the kernel was last asked.
  bool look(int socket, TimePoint now);

  resilience::MinRate rate_;
  Duration idle_timeout_{};
  bool has_waited_ = false;    // during this response
  std::uint64_t untaken_ = 0;  // unacknowledged when last asked, plus bytes sent since
  TimePoint idle_until_ = kNever;
};

}  // namespace spillway::proxy
