// How long requests hold their slots, now and without a queue: whether an upstream makes them wait.
//
// Learned while the limit has not been binding for five seconds and clients stay. A limit that is
// far too high does not bind either, and the queue of a load just above the capacity grows behind
// it. So it is at most little more than the least mean of any time. Only a hint: an upstream that
// got slower as a whole looks as if it had a queue, and one whose requests got cheaper as if it had
// none.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class SlotTimes {
 public:
  void step(const LimitSample& sample);
  // The limit was changed: what is measured from now on is recent. The requests of the old limit
  // are among the first twenty.
  void restart() { recent_ = {}; }

  // Seconds, the mean without a queue as far as seen; 0: not known.
  double quiet() const;
  // The same; the least mean while it is not known. 0: neither is.
  double unqueued() const;
  // Seconds, the least mean over twice as many requests as were at work, also while requests wait;
  // 0: not known.
  double least() const { return least_; }
  // Seconds, the recent mean; nullopt: not known.
  std::optional<double> recent() const;
  // Recent mean / quiet one; nullopt: not known.
  std::optional<double> stretch() const;
  // Slots given back per second, recently.
  double released_rate() const {
    return recent_.seconds > 0 ? recent_.requests / recent_.seconds : 0;
  }
  bool has_queue() const;
  // The most requests at work, as a mean, that had no queue.
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
  Mean lately_;     // the same, also of former limits
  Mean collected_;  // without a queue, since the last mean
  double collected_began_ = 0;
  Mean twice_;  // of twice as many requests as are at work
  double twice_began_ = 0, twice_succeeded_ = 0;
  double least_ = 0;  // of these; it rises slowly
  Duration quiet_for_{0};
  double quiet_ = 0;  // the least of these; it rises slowly
  double most_unqueued_ = 0;
};

}  // namespace spillway::overload
