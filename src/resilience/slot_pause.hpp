// The pauses of a client that holds a slot for which others wait: times in which it takes no bytes
// for reasons other than its network (paused_for()). Pure.
//
// The bytes that it takes earn it pauses, at the rate of its terms. The first bytes earn none in
// advance, since its kernel accepts those without the client. So an honest client may pause for as
// long as MinRate permits, and one that has taken little for the time that is left to all that
// pause (max_pause() in slot_terms.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/slot_terms.hpp"

namespace spillway::resilience {

// The bytes that a client's kernel accepts while the client reads nothing: its receive buffer.
inline constexpr std::uint64_t kTakenByKernel = 256 * 1024;

// The connection's view of the client (TCP_INFO of tcp(7)).
struct Taking {
  std::uint64_t left = 0;       // bytes that it has not taken
  bool is_in_flight = true;     // some of these are on their way to it, or being retransmitted
  bool is_window_full = false;  // no more are, since its receive window is full
  Duration round_trip{};        // to it and back
  Duration still{};             // how long it has taken nothing
};

// Longer than a delayed acknowledgement. A client that reads acknowledges a full window at once.
inline constexpr Duration kAcknowledges = std::chrono::milliseconds(40);
// The most that a client can extend it by delaying all its packets: a round trip to the other side
// of the world.
inline constexpr Duration kLongestRoundTrip = std::chrono::milliseconds(300);

// For how long a client with bytes left to take has taken none, for its own reasons: its receive
// window is closed or full, or it acknowledges nothing for much longer than a round trip. Zero: it
// does not pause.
constexpr Duration paused_for(const Taking& taking) {
  if (taking.left == 0) return Duration{0};
  if (!taking.is_in_flight) return taking.still;
  const Duration trips = 2 * std::min(taking.round_trip, kLongestRoundTrip);
  const Duration excused = trips + (taking.is_window_full ? Duration{0} : kAcknowledges);
  return std::max(taking.still - excused, Duration{0});
}

class SlotPause {
 public:
  // An observation of the client, which has paused for `paused`, while others wait for its slot,
  // the first of them for `waited`.
  void look(Duration paused, Duration waited, const SlotTerms& terms, TimePoint now) {
    unearned_ = std::max(unearned_, -terms.max_credit);
    const Duration unseen = now - last_look_;
    // If any pause is allowed, none of it counts.
    if (terms.max_pause != SlotTerms::kAnyPause)
      unearned_ +=
          std::clamp(is_in_round_ ? unseen : std::min(waited, unseen), Duration{0}, paused);
    last_look_ = now;
    is_in_round_ = true;
    is_paused_ = paused > Duration{0};
  }
  // No request waits, or not for the slot of this client. A pause that was counted is not counted
  // again in the next round.
  void end_round() { is_in_round_ = is_paused_ = false; }
  void took(std::uint64_t bytes, const SlotTerms& terms) {
    if (terms.rate == 0 || bytes == 0) return;
    taken_ += bytes;
    const double earned = static_cast<double>(bytes) / static_cast<double>(terms.rate);
    const Duration ahead = taken_ > kTakenByKernel ? terms.max_credit : Duration{0};
    unearned_ -= from_seconds(std::min(earned, kMostEarned));
    unearned_ = std::max(unearned_, -ahead);
  }
  // At the last observation it was pausing, and for longer than permitted.
  bool is_too_long(const SlotTerms& terms) const {
    return is_paused_ && unearned_ >= terms.max_pause;
  }
  bool is_paused() const { return is_paused_; }

 private:
  static constexpr double kMostEarned = 3600;  // seconds

  std::uint64_t taken_ = 0;
  Duration unearned_{};  // below zero: earned ahead
  TimePoint last_look_{};
  bool is_in_round_ = false;
  bool is_paused_ = false;  // at the last observation
};

}  // namespace spillway::resilience
