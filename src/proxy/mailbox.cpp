#include "proxy/mailbox.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace spillway::proxy {

void Mailbox::deliver(Ticket& ticket) {
  Ticket* newest = newest_.load(std::memory_order_relaxed);
  do {
    ticket.next = newest;
  } while (!newest_.compare_exchange_weak(newest, &ticket, std::memory_order_release,
                                          std::memory_order_relaxed));
  if (newest == nullptr) {
    boost::asio::post(io_, [this] { drain(); });
  }
}

void Mailbox::drain() {
  Ticket* reversed = nullptr;  // oldest first: who was granted first starts first
  for (Ticket* ticket = newest_.exchange(nullptr, std::memory_order_acquire); ticket != nullptr;) {
    Ticket* const next = std::exchange(ticket->next, reversed);
    reversed = std::exchange(ticket, next);
  }
  while (reversed != nullptr) {
    Ticket& ticket = *std::exchange(reversed, reversed->next);
    ticket.delivered = true;
    // The ticket may be gone after this.
    if (ticket.parking != nullptr) ticket.parking->wake(Wake::ready);
  }
}

}  // namespace spillway::proxy
