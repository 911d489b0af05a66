// Retry-After as a booking: successive refusals get successive return times, so that refused
// clients do not all come back at once.
//
// The returns to one upstream are paced to 10 % of the capacity that it has shown. That capacity is
// remembered for some seconds: in a stall nothing completes, and after it the upstream can take as
// much as before. A refusal whose turn would be more than 30 s ahead books none: it gets 60 s plus
// up to 60 s at random, since no estimate reaches that far.
//
// Each class has its own line, and a booking takes a turn in the lines of all lower classes too:
// they wait behind a higher class, never before it.
//
// Pure. measure() and continue_from() are for one thread only; book() is for any number of threads
// and costs a compare-and-swap for each class, and no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class RetryBooking {
 public:
  static constexpr double kReturningShare = 0.1;    // of the capacity
  static constexpr Milliseconds kHorizon{30'000};   // turns are not booked further ahead
  static constexpr Milliseconds kFarAhead{60'000};  // the answer then, and up to as much again
  static constexpr Milliseconds kMemory{10'000};    // time constant

  explicit RetryBooking(std::size_t classes) : lines_(classes) {}

  // Keeps bookings and capacity from the former configuration.
  void continue_from(const RetryBooking& former);

  // Every tick. `capacity`: requests per second; nullopt: not known. `now` never goes back.
  void measure(std::optional<double> capacity, TimePoint now);

  // The time until a refused request may return: `least` plus the time to its turn. Only `least`
  // while no capacity is known; a `least` of 0 (no advice) stays 0.
  Milliseconds book(ClassId traffic_class, Milliseconds least, TimePoint now, Random& random);

  // The time until the next turn of this class.
  Duration ahead(ClassId traffic_class, TimePoint now) const;

 private:
  using Line = std::atomic<std::int64_t>;  // the next turn: nanoseconds since the clock's epoch

  std::vector<Line> lines_;               // by class
  std::atomic<std::int64_t> spacing_{0};  // between turns, in nanoseconds; 0: no capacity known
  double capacity_ = 0;                   // the highest, fading
  TimePoint measured_{};
};

// Requests per second that the upstream has shown it can finish without an error: those it finished
// over the window, but at least one after the other in the mean time for which slots are held
// (seconds; nullopt: not known), since a quiet upstream finishes only as many as it gets. nullopt:
// it finished none, or too few slots were given back.
std::optional<double> shown_capacity(const OverloadSignals& signals,
                                     std::optional<double> mean_hold);

}  // namespace spillway::overload
