// The answer of another thread, for which a coroutine waits only until a given time.
//
// Both threads own it (std::shared_ptr): the answer may come when no coroutine waits any more.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/time.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/mailbox.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"

namespace spillway::proxy {

class TimedLetter {
 public:
  TimedLetter(Mailbox& mailbox, Parking& parking) : parking_(parking) {
    letter_.mailbox = &mailbox;
    letter_.parking = &parking;
  }
  TimedLetter(const TimedLetter&) = delete;
  TimedLetter& operator=(const TimedLetter&) = delete;

  // On any thread, once: the answer has come.
  void deliver() {
    const std::lock_guard lock(mutex_);
    if (state_ == State::given_up) return;
    state_ = State::there;
    letter_.mailbox->deliver(letter_);
  }

  // On the mailbox's thread, once. False: the answer has not come by `until`, and is given up.
  Task<bool> wait(EventLoop& loop, TimePoint until);

 private:
  enum class State : std::uint8_t { awaited, there, given_up };

  // False: the answer is on its way, and must be awaited.
  bool gives_up() {
    const std::lock_guard lock(mutex_);
    if (state_ == State::awaited) state_ = State::given_up;
    return state_ == State::given_up;
  }

  Parking& parking_;
  std::mutex mutex_;
  State state_ = State::awaited;
  Letter letter_;
};

}  // namespace spillway::proxy
