// When a paired dither is under its lower limit and when under its higher one: in turns by the wall
// clock, which several proxies before one upstream have in common without knowing of each other.
//
// A proxy that raises its limit alone takes throughput from the others, and takes that for a gain.
// Proxies that raise their limits in the same turn see what they gain together: nothing above the
// knee. So turns begin at multiples of their length since the Unix epoch, and the odd ones are
// high. Lengths are few and far apart, since turns of different lengths do not go together. Clocks
// have to agree within a tenth of a second.
//
// Pure.
#pragma once

#include "base/time.hpp"

namespace spillway::overload {

class DitherTurns {
 public:
  // `wall`: the time since the Unix epoch.
  bool is_high_at(Duration wall) const { return wall / length_ % 2 == 1; }
  // For requests that hold their slots for `held` seconds, about: a turn is longer than it takes
  // until those of the turn before are gone, and than a few ticks. One step up at a time for
  // `held`, since the first requests of a burst seem to take long.
  void fit(double held, Duration tick);
  // Where slots are held for seconds, turns that all proxies share would be too long to wait for:
  // each proxy has its own.
  bool are_shared() const { return are_shared_; }
  static bool can_be_shared(double held, Duration tick);
  Duration length() const { return length_; }

 private:
  Duration length_ = kShortest;
  bool are_shared_ = true;

  static constexpr Milliseconds kShortest{600};
};

}  // namespace spillway::overload
