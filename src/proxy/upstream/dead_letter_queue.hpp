// The expired requests of one upstream, for /state: workers record, the admin thread reads.
// Bounded; the oldest is dropped first. Thread-safe.
#pragma once

#include <mutex>

#include "config/config.hpp"
#include "dispatch/scheduler/dead_letters.hpp"

namespace spillway::proxy {

class DeadLetterQueue {
 public:
  explicit DeadLetterQueue(const config::Dispatch& settings)
      : enabled_(settings.expire_policy == config::ExpirePolicy::dead_letter),
        letters_(enabled_ ? settings.dead_letters : 0) {}

  // Whether `expire_policy` is dead_letter; otherwise the capacity is 0.
  bool is_enabled() const { return enabled_; }

  void record(const dispatch::DeadLetter& letter) {
    const std::lock_guard lock(mutex_);
    letters_.record(letter);
  }

  // Calls `read` with the dispatch::DeadLetters under the lock.
  template <class Read>
  void read(Read read) const {
    const std::lock_guard lock(mutex_);
    read(letters_);
  }

 private:
  bool enabled_;
  mutable std::mutex mutex_;
  dispatch::DeadLetters letters_;
};

}  // namespace spillway::proxy
