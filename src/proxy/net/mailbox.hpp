// Delivers results that a coroutine waits for (a slot, a shared response, the store's answer),
// decided on any thread, to the worker on whose thread it waits. Lock-free; one post to the
// worker's loop per batch of letters.
#pragma once

#include <atomic>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/lock_free_list.hpp"
#include "proxy/net/parking.hpp"

namespace spillway::proxy {

class Mailbox;

// A message to a waiting coroutine. Delivered exactly once; it must stay alive until then.
struct Letter {
  Mailbox* mailbox = nullptr;
  Parking* parking = nullptr;  // woken; null: the letter is only marked as delivered
  bool delivered = false;      // owner's thread only
  Letter* next = nullptr;      // in the mailbox
};

class Mailbox final : Posted {
 public:
  explicit Mailbox(EventLoop& loop) : loop_(loop) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Thread-safe. The letter's coroutine is resumed later, on the loop's thread, in the order of
  // delivery.
  void deliver(Letter& letter);

 private:
  void run() override;

  EventLoop& loop_;
  LockFreeList<Letter, &Letter::next> letters_;
  std::atomic<bool> is_posted_{false};
};

}  // namespace spillway::proxy
