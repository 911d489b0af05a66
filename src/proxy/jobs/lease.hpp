// How long the jobs that this proxy has leased are its own, by its own clock: in a shared store for
// the time of the lease, in any other store until the store says that they no longer are.
//
// The thread with the store says it. Workers look at it and end what they have in hand before the
// lease is over: they do not wait for that thread, which may be waiting for a store that hangs.
#pragma once

#include <atomic>

#include "base/time.hpp"

namespace spillway::proxy {

class Lease {
 public:
  // Of a lease, for workers to end in what they have in hand: a tenth. It is renewed each third.
  static constexpr Duration margin(Milliseconds length) { return Duration(length) / 10; }

  // --- Of the thread with the store:
  // Other proxies are on the store. To be called before it is prolonged.
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  // It was asked for at `asked`, so the store's clock ends it no sooner. Where nobody else could
  // take what is in hand it has no end: to end it would only send it again.
  void prolong(TimePoint asked, Milliseconds length) {
    until_ = is_shared() ? asked + length : TimePoint::max();
    set_ending(until_ - margin(length));
  }
  void lose() {
    until_ = TimePoint::min();
    set_ending(until_);
  }
  bool is_over(TimePoint now) const { return now >= until_; }

  // --- Thread-safe:
  bool is_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  // Nothing may be begun under it, and what is under way has to be ended. Also before there is one.
  bool is_ending(TimePoint now) const {
    return now.time_since_epoch().count() >= ending_.load(std::memory_order_relaxed);
  }

 private:
  void set_ending(TimePoint at) {
    ending_.store(at.time_since_epoch().count(), std::memory_order_relaxed);
  }

  std::atomic<bool> is_shared_{false};
  TimePoint until_ = TimePoint::min();
  std::atomic<Duration::rep> ending_{TimePoint::min().time_since_epoch().count()};
};

}  // namespace spillway::proxy
