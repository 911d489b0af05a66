// The wait up to which a class that is being refused may still queue (`target_wait_ms`), adapted so
// that slots hardly idle while requests are refused for lack of room.
//
// The shorter the queue, the less admitted requests wait, and the more likely a slot becomes free
// while the queue is empty. So the measured quantity is the idle share: of the slots' time in the
// periods of 100 ms in which a request was refused, the part in which they were free. Averaged over
// about a second of such periods, it is held near 0.2 %: while it is above, the target rises, by up
// to half in a second; while below, it falls, at a twentieth of that rate, since an idle slot is a
// loss and a short wait only a convenience. Periods without a refusal change nothing.
//
// The target begins as configured and stays between 5 ms and half of the longest wait of any class;
// a configured target outside widens these bounds. Below the configured target it applies to the
// lowest class only: the others would be refused for the lowest one's benefit. A request never
// queues for more than half of its own longest wait, see Terms.
//
// That bound limits its effect. At r times the capacity a queue of K turns is empty for about
// (r - 1) / (r^K - 1) of the time (M/M/1/K), at 1.2 times with K = 10 for 4 %, with K =
// 16 for 1 %. Measured in simulation, lowest class with a longest wait of 100 ms, service times of
// sigma 0.5, idle share with a fixed target of 20 ms and with this one: 4 slots x 20 ms (K =
// 10) 8.9 and 1.3 % at 1.2 times, 1.4 and 0.1 % at twice the capacity; 16 x 200 ms (K = 4) 3.0
// and 2.0, 0.8 and 0.4 %; 64 x 200 ms (K = 16) 1.1 and 0.1, 0.1 and 0.1 %; 4 x 200 ms (K = 1) 2.6
// and 2.6, 1.3 and 1.3 %: there only a longer max_wait_ms helps.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.hpp"

namespace spillway::dispatch {

class TargetWait {
 public:
  static constexpr Milliseconds kPeriod{100};
  static constexpr Milliseconds kLeast{5};
  static constexpr double kIdleShare = 0.002;  // the set point

  // `longest`: the longest wait of any class. `adapts`: otherwise it stays as configured.
  TargetWait(Duration configured, Duration longest, bool adapts)
      : configured_(configured),
        target_(configured),
        least_(std::min<Duration>(configured, kLeast)),
        most_(std::max(configured, longest / 2)),
        adapts_(adapts) {}

  // For the lowest class; for the others it is never below the configured one, or they would be
  // refused for the lowest class's benefit.
  Duration target() const { return target_; }
  Duration target_above() const { return std::max(target_, configured_); }
  // The recent idle share of slots while requests were refused; nullopt: none was yet.
  std::optional<double> idle_share() const { return idle_share_; }

  // A request was refused for lack of room.
  void refused() { has_refused_ = true; }

  // Whether advance() would do anything.
  bool is_due(TimePoint now) const { return !began_ || now >= *began_ + kPeriod; }

  // Sets the longest wait of any class.
  void set_longest(Duration longest) { most_ = std::max(configured_, longest / 2); }

  // `now` never goes back. `busy` is the integral of slots in use over time, in seconds; `slots` is
  // their number. Call it before `busy` or `slots` change by much; it has an effect only at the end
  // of a period.
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

  Duration configured_;
  Duration target_;
  Duration least_, most_;
  bool adapts_;
  bool has_refused_ = false;
  std::optional<TimePoint> began_;
  double busy_at_beginning_ = 0;
  std::optional<double> idle_share_;
};

}  // namespace spillway::dispatch
