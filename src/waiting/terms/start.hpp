// The announced start of a waiting room. Until then all visitors wait, and none is called. Visitors
// that came before it stand in line by arrival or, if places are drawn, by lot: then it is no
// advantage to come early. Later visitors stand behind them, by arrival.
//
// A lot is a keyed hash of the ticket's id, so that the order is the same after a restart and no
// visitor can choose a good one. SHA-256 of the key is published before the start and the key after
// it: anyone can check that the draw was not repeated.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hmac.hpp"
#include "waiting/line/line.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

struct Start {
  Time at{};                      // Time{}: no announced start
  std::optional<HmacKey> draw{};  // nullopt: by arrival

  bool is_over(Time now) const { return now >= at; }
  // The arrival time that decides a new ticket's place. Only tickets that exist at the start are
  // drawn: once the key is published, visitors could pick among older stamps by their lots.
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

// Whole seconds below `most`, derived from the id but not from its lot: it spreads the first polls
// after the start.
Milliseconds spread_of(const TicketId& id, Milliseconds most);

}  // namespace spillway::waiting
