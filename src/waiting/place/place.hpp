// What of a ticket or a session is written down, so that it survives the process.
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
    ended,   // was one of the others
    ticket,  // waiting or called: after a restart everybody waits
    session,
    left  // was a session, and ended lately: until a minute later it counts as begun by then
  };
  TicketId id;
  Kind kind = Kind::ended;
  Time since{};              // ticket: the arrival its place goes by; session: its beginning
  std::uint32_t missed = 0;  // ticket: calls
  Priority priority = 0;     // ticket
  UserKey user{};            // of a ticket or a session, if it is verified
  // Where resources are handed out: to_text(Ask) of it, and what a session has.
  std::string ask{};
  std::string resource{};
  // Ticket: where it stands in its tier, if an operator moved it from where its arrival puts it.
  std::optional<Order> order{};
  std::uint32_t tie = 0;     // likewise: how many of the same order stand before it
  bool is_reserved = false;  // ticket
  Time used{};               // session: its last use; none: it is not known
  // Told to other proxies, of what is not here (bring_back): a file does not keep it.
  Ended why = Ended::cancelled;

  bool is_here() const { return kind == Kind::ticket || kind == Kind::session; }

  bool operator==(const Place&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.id, self.kind, self.since, self.missed, self.priority, self.user, self.ask,
            self.resource, self.order, self.tie, self.is_reserved, self.used, self.why);
  }
};

// What was written of one waiting room when its process ended.
struct Written {
  Time until{};  // all that changed before is in it
  std::vector<Place> places;
  Orders orders;
  Time used_until{};  // the last uses of sessions before are in it
};

}  // namespace spillway::waiting
