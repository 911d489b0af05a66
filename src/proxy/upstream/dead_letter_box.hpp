// The expired requests of one upstream that /state shows: workers add, the admin thread looks.
#pragma once

#include <mutex>

#include "config/config.hpp"
#include "dispatch/dead_letters.hpp"

namespace spillway::proxy {

class DeadLetterBox {
 public:
  // None are kept unless the expire policy asks for it.
  explicit DeadLetterBox(const config::Dispatch& settings)
      : keeps_(settings.expire_policy == config::ExpirePolicy::dead_letter),
        letters_(keeps_ ? settings.dead_letters : 0) {}

  bool keeps() const { return keeps_; }

  void record(const dispatch::DeadLetter& letter) {
    const std::lock_guard lock(mutex_);
    letters_.record(letter);
  }

  template <class Look>
  void look(Look look) const {
    const std::lock_guard lock(mutex_);
    look(letters_);
  }

 private:
  bool keeps_;
  mutable std::mutex mutex_;
  dispatch::DeadLetters letters_;
};

}  // namespace spillway::proxy
