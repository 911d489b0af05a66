// How the fate of a waiting request, decided on any thread, reaches the worker that owns it.
//
// Letters are pushed without a lock; only the first of a batch posts to the worker's loop.
#pragma once

#include <atomic>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/parking.hpp"

namespace spillway::proxy {

class Mailbox;

// The way back to a waiting coroutine. Whoever decides delivers it exactly once; until then it
// must stay alive.
struct Letter {
  Mailbox* home = nullptr;
  Parking* parking = nullptr;  // null: nobody waits for it, it is only marked as delivered
  bool delivered = false;      // owner's thread only
  Letter* next = nullptr;      // in the mailbox
};

class Mailbox final : Posted {
 public:
  explicit Mailbox(EventLoop& loop) : loop_(loop) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread. The letter's coroutine is resumed later, on the owner's thread.
  void deliver(Letter& letter);

 private:
  void run() override;

  EventLoop& loop_;
  std::atomic<Letter*> newest_{nullptr};
  std::atomic<bool> is_posted_{false};
};

}  // namespace spillway::proxy
