// Whether a peer moves bytes at a minimum rate while it is its turn to move some.
//
// A byte buys 1/rate seconds, and its turns use them up. It starts with `grace`. What it moves
// faster than the rate is credited, up to `most`: how long a quick peer may pause is a question for
// an idle timeout, and TCP itself opens a receive window in leaps. While it is not its turn (it
// waits for others, or there is nothing to move) no time passes. So whoever holds on for `t` of its
// own time has moved at least rate * (t - grace) bytes, and at least rate * (t - most) in any part
// of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace spillway::resilience {

class MinRate {
 public:
  // Any rate will do.
  MinRate() = default;
  // rate: bytes per second; 0: any will do. A `most` below `grace` counts as `grace`.
  MinRate(std::uint64_t rate, Duration grace, Duration most)
      : rate_(static_cast<double>(rate)), credit_(grace), most_(std::max(grace, most)) {}

  // Its turn begins, or goes on if it had begun.
  void begin_turn(TimePoint now) {
    spend(now);
    turn_since_ = now;
  }
  // Its turn ends, if it had begun.
  void end_turn(TimePoint now) {
    spend(now);
    turn_since_ = kNever;
  }
  // Time that its turn took up to now is used up first, and debts are forgiven.
  void moved(std::uint64_t bytes, TimePoint now) {
    if (rate_ == 0 || bytes == 0) return;
    spend(now);
    const double bought = static_cast<double>(bytes) / rate_;
    credit_ = bought < to_seconds(most_ - credit_) ? credit_ + from_seconds(bought) : most_;
  }

  // When it will be too slow if it moves nothing until then; kNever while it is not its turn.
  TimePoint deadline() const {
    return rate_ == 0 || turn_since_ == kNever ? kNever : turn_since_ + credit_;
  }

 private:
  // A `now` before an earlier one counts as that one.
  void spend(TimePoint now) {
    if (turn_since_ == kNever || now <= turn_since_) return;
    credit_ = std::max(credit_ - (now - turn_since_), Duration{0});
    turn_since_ = now;
  }

  double rate_ = 0;
  Duration credit_{};
  Duration most_{};
  TimePoint turn_since_ = kNever;
};

}  // namespace spillway::resilience
