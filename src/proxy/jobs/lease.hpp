// How long this proxy owns the jobs that it has leased, by its own clock: in a shared store for the
// time of the lease, in any other store until the store reports that the lease is lost.
//
// The thread with the store sets it. Workers read it and end the attempts they have in hand before
// the lease ends: they do not wait for that thread, which may be waiting for a store that hangs.
#pragma once

#include <atomic>

#include "base/time.hpp"

namespace spillway::proxy {

class Lease {
 public:
  // The part of a lease in which workers end their jobs: a tenth. It is renewed every third.
  static constexpr Duration margin(Milliseconds length) { return Duration(length) / 10; }

  // --- For the thread with the store:
  // Other proxies use the store too. To be called before prolong().
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  // It was asked for at `asked`, so by the store's clock it ends no sooner. If no other proxy could
  // take the jobs in hand it never ends: ending it would only send them again.
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
  // Nothing may begin under it, and work in progress must end. Also true before the first lease.
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
