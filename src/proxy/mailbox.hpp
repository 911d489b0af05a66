// How the fate of a waiting request, decided on any thread, reaches the worker that owns it.
//
// Tickets are pushed without a lock; only the first of a batch posts to the worker's loop.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>

#include "dispatch/waiter.hpp"
#include "proxy/parking.hpp"

namespace spillway::proxy {

class Mailbox;

// A request's place at the gate: the scheduler's waiter and the way back to its coroutine.
// Whoever takes it out of the queue delivers it exactly once; until then it must stay alive.
struct Ticket : dispatch::Waiter {
  Mailbox* home = nullptr;
  Parking* parking = nullptr;  // null: nobody waits for it, it is only marked as delivered
  bool delivered = false;      // owner's thread only
  Ticket* next = nullptr;      // in the mailbox
};

class Mailbox {
 public:
  explicit Mailbox(boost::asio::io_context& io) : io_(io) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread. The ticket's coroutine is resumed later, on the owner's thread.
  void deliver(Ticket& ticket);

 private:
  void drain();

  boost::asio::io_context& io_;
  std::atomic<Ticket*> newest_{nullptr};
};

}  // namespace spillway::proxy
