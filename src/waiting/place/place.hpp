// A ticket or a session as the store keeps it, so that it survives the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "waiting/line/line.hpp"
#include "waiting/place/orders.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"
#include "waiting/ticket/user_key.hpp"

namespace spillway::waiting {

struct Place {
  enum class Kind : std::uint8_t {
    ended,   // was a ticket or a session
    ticket,  // waiting or called: after a restart all of them wait
    session,
    left  // was a session, and ended lately: for a minute it counts as a session that has begun
  };
  TicketId id;
  Kind kind = Kind::ended;
  Time since{};              // ticket: the arrival that decides its place; session: its beginning
  std::uint32_t missed = 0;  // ticket: calls that its visitor missed
  Priority priority = 0;     // ticket
  UserKey user{};            // of a ticket or a session, if its user is verified
  // Where resources are handed out: to_text(Ask), and the resource that a session has.
  std::string ask{};
  std::string resource{};
  // Ticket: its order in its tier, if an operator moved it away from the order of its arrival.
  std::optional<Order> order{};
  std::uint32_t tie = 0;     // the same: how many of the same order stand before it
  bool is_reserved = false;  // ticket
  Time used{};               // session: its last use; Time{}: not known
  // Sent to other proxies for a place that is not here (bring_back); the store does not keep it.
  Ended why = Ended::cancelled;

  bool is_here() const { return kind == Kind::ticket || kind == Kind::session; }

  bool operator==(const Place&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.kind, self.since, self.missed, self.priority, self.user, self.ask,
            self.resource, self.order, self.tie, self.is_reserved, self.used, self.why);
  }
};

// A waiting room's state as its former process left it in the store.
struct Written {
  Time until{};  // it has all changes before this
  std::vector<Place> places;
  Orders orders;
  Time used_until{};  // it has the last uses of sessions before this
};

}  // namespace spillway::waiting
