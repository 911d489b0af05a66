// The expiry times of all waiters: a timing wheel (Varghese and Lauck, "Hashed and hierarchical
// timing wheels", SOSP 1987) of 10 ms buckets over five seconds.
//
// Insertion and removal are O(1) (remove with Hook::unlink); collecting visits only the buckets
// that are due. Times beyond the horizon go into the last bucket and are filed again from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "dispatch/queue/class_queue.hpp"
#include "dispatch/queue/waiter.hpp"

namespace spillway::dispatch {

using WheelList = IntrusiveList<Waiter, InDeadlineWheel>;

class DeadlineWheel {
 public:
  static constexpr Milliseconds kBucket{10};
  static constexpr std::size_t kBuckets = 512;

  DeadlineWheel() : buckets_(kBuckets) {}

  // Files `waiter` under its expires_at; if that has passed already, the next collect() finds it.
  void insert(Waiter& waiter, TimePoint now);

  // Moves every waiter with expires_at <= now to the end of `due`. Repeating the call with the same
  // `now` costs nothing.
  void collect(TimePoint now, WheelList& due);

 private:
  void file(Waiter& waiter);

  std::vector<WheelList> buckets_;
  std::int64_t cursor_ = -1;  // the oldest tick that may hold waiters; -1: never used
  TimePoint collected_{TimePoint::min()};
};

}  // namespace spillway::dispatch
