// How long requests hold their slots, now and without a queue, to see a queue at the upstream.
//
// Learned while the limit has not been binding for five seconds and clients stay. A limit that is
// far too high does not bind either, and with a load just above the capacity a queue grows behind
// it. So the learned time is at most slightly more than the least mean ever seen. Only a hint: an
// upstream that became slower as a whole seems to have a queue, and one whose requests became
// cheaper seems to have none.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class SlotTimes {
 public:
  void step(const LimitSample& sample);
  // The limit was changed: measurements from now on are recent. The requests of the old limit are
  // among the first twenty.
  void restart() { recent_ = {}; }

  // Seconds, the mean hold time without a queue as far as seen; 0: not known.
  double quiet() const;
  // The same, or the least mean while it is not known. 0: neither is known.
  double unqueued() const;
  // Seconds, the least mean over twice as many requests as were at work, including times when
  // requests wait; 0: not known.
  double least() const { return least_; }
  // Seconds, the recent mean; nullopt: not known.
  std::optional<double> recent() const;
  // Recent mean / mean without a queue; nullopt: not known.
  std::optional<double> stretch() const;
  // Slots given back per second, recently.
  double released_rate() const {
    return recent_.seconds > 0 ? recent_.requests / recent_.seconds : 0;
  }
  bool has_queue() const;
  // The highest mean number of requests at work without a queue.
  double most_unqueued() const { return most_unqueued_; }

 private:
  struct Mean {
    double slot_seconds = 0, requests = 0, seconds = 0;

    void add(const LimitSample& sample, double memory);
    void add(const LimitSample& sample);
    double value() const { return slot_seconds / requests; }
  };

  void note_least(const LimitSample& sample);

  Mean recent_;
  Mean lately_;     // the same over fewer requests, across changes of the limit
  Mean collected_;  // without a queue, since the last mean
  double collected_began_ = 0;
  Mean twice_;  // over twice as many requests as are at work
  double twice_began_ = 0, twice_succeeded_ = 0;
  double least_ = 0;  // the least of these means; it rises slowly
  Duration quiet_for_{0};
  double quiet_ = 0;  // the least mean without a queue; it rises slowly
  double most_unqueued_ = 0;
};

}  // namespace spillway::overload
