// A minimum transfer rate for a peer (slow-client protection): the time by which it must have
// transferred more bytes.
//
// Time counts only while it is the peer's turn, that is, while we wait for it to send or to
// receive. Each byte transferred earns 1/rate seconds of credit, and the peer's turns spend it. The
// credit starts at `grace` and is capped at `max_credit`: pauses of a fast peer are handled by the
// idle timeout, and TCP opens its receive window in leaps. So a peer that lasts for a time t of its
// own turns has transferred at least rate * (t - grace) bytes, and at least rate * (t - max_credit)
// in any part of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

class MinRate {
 public:
  // No minimum.
  MinRate() = default;
  // rate: bytes per second; 0: no minimum. A `max_credit` below `grace` counts as `grace`.
  MinRate(std::uint64_t rate, Duration grace, Duration max_credit)
      : rate_(static_cast<double>(rate)),
        credit_(grace),
        max_credit_(std::max(grace, max_credit)) {}

  // Its turn begins, or continues if it had begun.
  void begin_turn(TimePoint now) {
    spend(now);
    turn_since_ = now;
  }
  // Its turn ends, if it had begun.
  void end_turn(TimePoint now) {
    spend(now);
    turn_since_ = kNever;
  }
  // In force from `now` on. Its credit stays the same share of the maximum: stricter terms only
  // take the credit that is spent under them, as a share of the maximum.
  void change(std::uint64_t rate, Duration max_credit, TimePoint now) {
    spend(now);
    rate_ = static_cast<double>(rate);
    if (max_credit_ > Duration{0} && max_credit != max_credit_)
      credit_ =
          from_seconds(to_seconds(credit_) / to_seconds(max_credit_) * to_seconds(max_credit));
    max_credit_ = max_credit;
    credit_ = std::min(credit_, max_credit_);
  }
  // First spends the time of its turn up to now; credit never falls below zero.
  void moved(std::uint64_t bytes, TimePoint now) {
    if (rate_ == 0 || bytes == 0) return;
    spend(now);
    const double bought = static_cast<double>(bytes) / rate_;
    const bool fits = bought < to_seconds(max_credit_ - credit_);
    credit_ = fits ? credit_ + from_seconds(bought) : max_credit_;
  }

  // When it becomes too slow if nothing is transferred until then; kNever while it is not its turn.
  TimePoint deadline() const {
    return rate_ == 0 || turn_since_ == kNever ? kNever : turn_since_ + credit_;
  }

 private:
  // A `now` earlier than a previous one counts as that one.
  void spend(TimePoint now) {
    if (turn_since_ == kNever || now <= turn_since_) return;
    credit_ = std::max(credit_ - (now - turn_since_), Duration{0});
    turn_since_ = now;
  }

  double rate_ = 0;
  Duration credit_{};
  Duration max_credit_{};
  TimePoint turn_since_ = kNever;
};

}  // namespace spillway::resilience
