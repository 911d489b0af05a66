// When a paired dither applies its lower limit and when its higher one: in turns by the wall clock,
// which keeps several proxies before one upstream in step without communication.
//
// A proxy that raises its limit alone takes throughput from the others, and mistakes it for a gain.
// Proxies that raise their limits in the same turn see their common gain: nothing above the knee.
// So turns begin at multiples of their length since the Unix epoch, and the odd ones are high. The
// possible lengths are few and far apart, since turns of different lengths do not coincide. Clocks
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
  // For requests that hold their slots for about `held` seconds: a turn is longer than the requests
  // of the previous turn take to end, and longer than a few ticks. Grows by one step per call,
  // since the first requests of a burst seem to take long.
  void fit(double held, Duration tick);
  // Where slots are held for seconds, shared turns would be too long to wait for: then each proxy
  // has its own.
  bool are_shared() const { return are_shared_; }
  static bool can_be_shared(double held, Duration tick);
  Duration length() const { return length_; }

 private:
  Duration length_ = kShortest;
  bool are_shared_ = true;

  static constexpr Milliseconds kShortest{600};
};

}  // namespace spillway::overload
