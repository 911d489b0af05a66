// The wait up to which a class that is being refused may still queue (`target_wait_ms`), adapted so
// that slots hardly idle while requests are refused for lack of room.
//
// The shorter the queue, the less those wait who are let in, and the likelier a slot comes free
// while the queue is empty. So the measured quantity is the idle share: of the slots' time in the
// periods of 100 ms in which a request was refused, the part in which they were free. Averaged over
// about a second of such periods, it is held near 0.2 %: the target rises while it is above, by up
// to half in a second, and falls while it is below, at a twentieth of that rate, since a slot that
// idled is lost and a short wait is only pleasant. In periods without a refusal nothing changes.
//
// The target begins as configured and stays within [5 ms, 1 s]; a configured one outside widens
// them. A class never queues up to more than half of its longest wait, see Terms.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class TargetWait {
 public:
  static constexpr Milliseconds kPeriod{100};
  static constexpr Milliseconds kLeast{5};
  static constexpr Milliseconds kMost{1000};
  static constexpr double kIdleShare = 0.002;  // what it is held near

  // `adapts`: otherwise it stays as configured.
  TargetWait(Duration configured, bool adapts)
      : target_(configured),
        least_(std::min<Duration>(configured, kLeast)),
        most_(std::max<Duration>(configured, kMost)),
        adapts_(adapts) {}

  Duration target() const { return target_; }
  // Of the slots, lately while requests were refused; nullopt: none has been yet.
  std::optional<double> idle_share() const { return idle_share_; }

  // A request was refused for lack of room.
  void refused() { has_refused_ = true; }

  // `now` never goes back. `busy` is the integral of slots in use over time, in seconds; `slots` is
  // how many there are. Call it before `busy` or `slots` change by much; it does nothing but at the
  // end of a period.
  void advance(double busy, double slots, TimePoint now) {
    if (!began_) begin(busy, now);
    if (now >= *began_ + kPeriod) end_period(busy, slots, now);
  }

 private:
  void begin(double busy, TimePoint now) {
    began_ = now;
    busy_at_beginning_ = busy;
    has_refused_ = false;
  }
  void end_period(double busy, double slots, TimePoint now);

  Duration target_;
  Duration least_, most_;
  bool adapts_;
  bool has_refused_ = false;
  std::optional<TimePoint> began_;
  double busy_at_beginning_ = 0;
  std::optional<double> idle_share_;
};

}  // namespace spillway::dispatch
