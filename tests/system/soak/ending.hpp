// The end of what many threads do, which each of them can wait for between two steps. Unlike an
// event it can be taken back, for a next round.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace spillway::soak {

class Ending {
 public:
  void set(bool is_set = true) {
    const std::lock_guard lock(mutex_);
    is_set_ = is_set;
    changed_.notify_all();
  }
  bool is_set() const {
    const std::lock_guard lock(mutex_);
    return is_set_;
  }
  // Returns as soon as it is set, or false after `within`.
  bool wait(std::chrono::milliseconds within) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [this] { return is_set_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool is_set_ = false;
};

}  // namespace spillway::soak
