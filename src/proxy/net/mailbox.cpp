#include "proxy/net/mailbox.hpp"

#include <utility>

namespace spillway::proxy {

void Mailbox::deliver(Letter& letter) {
  Letter* newest = newest_.load(std::memory_order_relaxed);
  do {
    letter.next = newest;
  } while (!newest_.compare_exchange_weak(newest, &letter, std::memory_order_release,
                                          std::memory_order_relaxed));
  // Before it is taken out of the loop's hands nobody may post it again, however often letters are
  // taken out meanwhile.
  if (!is_posted_.exchange(true, std::memory_order_acq_rel)) loop_.post(*this);
}

void Mailbox::run() {
  is_posted_.exchange(false, std::memory_order_acq_rel);  // what comes from now on posts anew
  Letter* reversed = nullptr;  // oldest first: who was granted first starts first
  for (Letter* letter = newest_.exchange(nullptr, std::memory_order_acquire); letter != nullptr;) {
    Letter* const next = std::exchange(letter->next, reversed);
    reversed = std::exchange(letter, next);
  }
  while (reversed != nullptr) {
    Letter& letter = *std::exchange(reversed, reversed->next);
    letter.delivered = true;
    // The letter may be gone after this.
    if (letter.parking != nullptr) letter.parking->wake(Wake::ready);
  }
}

}  // namespace spillway::proxy
