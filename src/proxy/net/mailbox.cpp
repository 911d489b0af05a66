#include "proxy/net/mailbox.hpp"

namespace spillway::proxy {

void Mailbox::deliver(Letter& letter) {
  letters_.push(letter);
  // Posted once, however many letters arrive before it runs.
  if (!is_posted_.exchange(true, std::memory_order_acq_rel)) loop_.post(*this);
}

void Mailbox::run() {
  is_posted_.exchange(false, std::memory_order_acq_rel);  // letters pushed from now on post again
  // Oldest first: the first slot granted starts first.
  letters_.drain([](Letter& letter) {
    letter.delivered = true;
    if (letter.parking != nullptr) letter.parking->wake(Wake::ready);  // may destroy the letter
  });
}

}  // namespace spillway::proxy
