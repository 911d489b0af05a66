// How fast slots come free: the mean time a slot is held, following a change within seconds.
//
// The rate that follows from it is what the upstream could do, not what it happens to complete
// (which on a quiet site is just what arrives).
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class HoldTime {
 public:
  static constexpr double kEnoughSamples = 20;

  // A slot was given back after being held for `held` (negative counts as zero).
  void record(Duration held, TimePoint now);

  // Seconds; nullopt before 20 samples. Samples fade with a time constant of a second, except
  // that the last twenty always count.
  std::optional<double> mean() const {
    if (!enough_) return std::nullopt;
    return sum_ / weight_;
  }

 private:
  double sum_ = 0;  // seconds
  double weight_ = 0;
  bool enough_ = false;
  std::optional<TimePoint> slice_began_;
};

// What a newcomer of one class finds in front of it.
struct Backlog {
  double turns;           // grants to any class before its own, its own included
  double slots;           // that its class may compete for
  double own_ahead;       // waiters of its own class
  double own_slots;       // at most this many may be its class's (max_inflight)
  double reserved_slots;  // this many are its class's alone
};

// Seconds until a slot, when slots are held for `mean_hold` seconds: the turns before it at
// the rate of the slots it competes for; no sooner than its class's own cap lets it and no
// later than its reserved slots let it.
double predict_wait(const Backlog& backlog, double mean_hold);

}  // namespace spillway::dispatch
