// Predicts the wait for a slot from the backlog and the mean time for which slots are held.
//
// Slots / mean hold time is the upstream's capacity. The completion rate would not do: on a quiet
// site it equals the arrival rate.
#pragma once

#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

// The mean hold time of recent slots; follows a change within seconds.
class HoldTime {
 public:
  static constexpr double kEnoughSamples = 20;

  // A slot was given back after `held` (negative counts as zero).
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

// The turns before a newcomer of one class, and the slots that serve them.
struct Backlog {
  double turns = 1;           // grants to any class up to its own, inclusive
  double slots = 1;           // slots that its class may compete for
  double own_turns = 1;       // grants to its own class up to its own, inclusive
  double own_slots = 0;       // its class's max_inflight while that is reached, else 0
  double reserved_slots = 0;  // for its class alone
};

// Seconds until it has a slot if slots are held for `mean_hold` seconds: its turns at the rate at
// which the slots it competes for become free, but no sooner than its class's cap permits and no
// later than its class's reserved slots provide.
double predict_wait(const Backlog& backlog, double mean_hold);

}  // namespace spillway::dispatch
