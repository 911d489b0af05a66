// The pauses of a client that holds a slot for which others wait: times in which it takes nothing,
// and its network is not what keeps it from that (paused_for()). Pure.
//
// The bytes that it takes earn it pauses, at the rate of its terms. What it takes at first does not
// earn any in advance, as its kernel takes that for it. So an honest client may pause for as long
// as MinRate lets it, and one that has taken little for the time that is left to all that pause
// (max_pause() in slot_terms.hpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.hpp"
#include "resilience/slot_terms.hpp"

namespace spillway::resilience {

// What a client's kernel takes although the client reads nothing: its receive buffer.
inline constexpr std::uint64_t kTakenByKernel = 256 * 1024;

// What a connection says of the other side (TCP_INFO of tcp(7)).
struct Taking {
  std::uint64_t left = 0;       // bytes that it has not taken
  bool is_in_flight = true;     // some of them are on their way to it, or being sent again
  bool is_window_full = false;  // no more are, since its receive window has no room for more
  Duration round_trip{};        // to it and back
  Duration still{};             // for how long it has taken nothing
};

// Longer than a delayed acknowledgement. A client that reads acknowledges a full window at once.
inline constexpr Duration kAcknowledges = std::chrono::milliseconds(40);
// A client that delays all that it says cannot make it longer than that, the way to the other side
// of the world and back.
inline constexpr Duration kLongestRoundTrip = std::chrono::milliseconds(300);

// For how long a client that is to take more has not, for its own sake: its receive window is
// closed or full, or it answers nothing for much longer than a round trip takes. Zero: it does not
// pause.
constexpr Duration paused_for(const Taking& taking) {
  if (taking.left == 0) return Duration{0};
  if (!taking.is_in_flight) return taking.still;
  const Duration trips = 2 * std::min(taking.round_trip, kLongestRoundTrip);
  const Duration excused = trips + (taking.is_window_full ? Duration{0} : kAcknowledges);
  return std::max(taking.still - excused, Duration{0});
}

class SlotPause {
 public:
  // A look at the client, which has paused for so long, while others wait for its slot, the first
  // of them for as long as `waited`.
  void look(Duration paused, Duration waited, const SlotTerms& terms, TimePoint now) {
    unearned_ = std::max(unearned_, -terms.max_credit);
    const Duration unseen = now - last_look_;
    // Where any pause is allowed, none of it counts.
    if (terms.max_pause != SlotTerms::kAnyPause)
      unearned_ +=
          std::clamp(is_in_round_ ? unseen : std::min(waited, unseen), Duration{0}, paused);
    last_look_ = now;
    is_in_round_ = true;
    is_paused_ = paused > Duration{0};
  }
  // None waits, or it is not the client for whom the slot waits. What has counted does not count
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
  // It pauses at the last look, and has done so for longer than it may.
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
  bool is_paused_ = false;  // then
};

}  // namespace spillway::resilience
