// The announced start of a waiting room. Until then everybody waits, and nobody is called. Who has
// come by then stands in line by arrival or, where it is drawn, by lot: to come early is no
// advantage. Who comes later stands behind, by arrival.
//
// A lot is a keyed hash of the ticket's id, so that the order is the same after a restart and that
// nobody can choose a good one. SHA-256 of the key is shown before the start and the key after it:
// everybody can check that it was not drawn again.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hmac.hpp"
#include "waiting/line/line.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

struct Start {
  Time at{};                      // Time{}: there is none
  std::optional<HmacKey> draw{};  // nullopt: by arrival

  bool is_over(Time now) const { return now >= at; }
  // The arrival that the place of a new ticket goes by. Only tickets that exist at the start are
  // drawn: a stamp from before it could be chosen by its lot once the key is shown.
  Time joined_at(Time arrived, Time now) const;
  Order order_of(Time arrived, const TicketId& id) const;

  bool operator==(const Start&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.at, self.draw);
  }
};

// The first 40 bits of HMAC-SHA256(key, to_text(id)).
std::uint64_t lot_of(const HmacKey& key, const TicketId& id);

// Whole seconds below `most`, of the id alone, and not of its lot: so that not all who wait for the
// start ask at once after it.
Milliseconds spread_of(const TicketId& id, Milliseconds most);

}  // namespace spillway::waiting
