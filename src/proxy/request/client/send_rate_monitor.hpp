// How fast a client acknowledges a response: enforces limits.min_rate_bytes,
// limits.slot_rate_bytes, the rate that applies while disk space is short, and the idle timeout.
// The clock runs only while the proxy waits for the client.
//
// Writability is too coarse: the kernel buffers megabytes and reports room in steps of a third of
// that, which are minutes apart for a slow client. So the kernel is asked for the unacknowledged
// bytes (SIOCOUTQ), but only once a limit seems to be exceeded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "cache/rules/reading.hpp"
#include "config/config.hpp"
#include "proxy/request/client/client_session.hpp"
#include "resilience/min_rate.hpp"
#include "resilience/slot_pause.hpp"
#include "resilience/slot_terms.hpp"

namespace spillway::proxy {

// The grace period of limits.min_rate_bytes, for request bodies and for responses.
inline constexpr Duration kRateGrace = std::chrono::seconds(5);

// The rate that a client must keep while its request holds a slot for which others wait, until it
// is known how scarce slots are.
inline resilience::MinRate slot_rate(const config::Limits& limits) {
  return {limits.slot_rate_bytes, resilience::kSlotGrace, resilience::kSlotCredit};
}

// The rate that a client must keep while its body takes disk space and other bodies find none. It
// also applies to a client that takes a stored response while memory for those is short.
inline resilience::MinRate space_rate() {
  return {cache::kReadingRate, cache::kReadingGrace, cache::kReadingGrace};
}

class SendRateMonitor {
 public:
  // A response begins.
  void begin(const config::Limits& limits);
  // `bytes` of it were written to the socket.
  void sent(std::size_t bytes) { untaken_ += bytes; }

  // The socket is full: the clock runs until stop(); the slot's clock only if the slot waits too.
  void wait(int socket, TimePoint now, ItsSlot its_slot = ItsSlot::waits_too);
  void stop(TimePoint now);
  // The slot's clock runs.
  bool keeps_slot_waiting() const { return keeps_slot_waiting_; }

  // When judge() is due; kNever while the clock does not run.
  TimePoint deadline() const;
  // When the client will fall below the rate of its slot, as of the last look at the kernel; kNever
  // while that clock does not run.
  TimePoint slot_deadline() const { return slot_rate_.deadline(); }
  // The same for earns_space().
  TimePoint space_deadline() const { return space_rate_.deadline(); }
  // The terms of its slot from now on. Asks the kernel if they have changed.
  void set_slot_terms(const resilience::SlotTerms& terms, int socket, TimePoint now);
  // Checks whether the client pauses (resilience::SlotPause) while others wait for its slot, the
  // first of them for `waited` so far. Asks the kernel, so slot_deadline() is then up to date too.
  const resilience::SlotPause& look_for_pause(Duration waited, int socket, TimePoint now);
  const resilience::SlotTerms& slot_terms() const { return slot_terms_; }
  // No request waits for its slot.
  void end_round() { pause_.end_round(); }
  // Since when the client has taken nothing, as far as is known, not counting the time in which the
  // clock did not run; kNever while it does not run. Asks the kernel.
  TimePoint still_since(int socket, TimePoint now);
  enum class Verdict : std::uint8_t { fast_enough, idle, too_slow };
  Verdict judge(int socket, TimePoint now);
  // False: below the rate for disk space.
  bool earns_space(int socket, TimePoint now);

 private:
  // Credits the bytes that the client has acknowledged since the last look at the kernel.
  void look(int socket, TimePoint now);

  resilience::MinRate rate_;
  resilience::MinRate slot_rate_;
  resilience::SlotTerms slot_terms_;  // of slot_rate_
  resilience::SlotPause pause_;
  resilience::MinRate space_rate_;
  Duration idle_timeout_{};
  bool has_waited_ = false;  // during this response
  bool keeps_slot_waiting_ = false;
  std::uint64_t untaken_ = 0;  // unacknowledged at the last look, plus bytes sent since
  TimePoint idle_until_ = kNever;
  TimePoint still_since_ = kNever;  // kNever: the proxy has not waited during this response
  TimePoint stopped_{};             // when the clock last stopped
};

}  // namespace spillway::proxy
