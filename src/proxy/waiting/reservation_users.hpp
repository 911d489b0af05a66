// The users of reservations, while these are on their way through the log of a waiting room, which
// does not name users: the proxy that got the request keeps them until it reads the row. That may
// be late, if the database did not answer. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "proxy/waiting/room_outbox.hpp"
#include "waiting/replica/replica.hpp"

namespace spillway::proxy {

class ReservationUsers {
 public:
  // The entry with this number will be written with these calls.
  void note(std::uint64_t entry, const RoomOutbox::Calls& calls) {
    for (const auto& call : calls) {
      const auto* const reserve = std::get_if<waiting::Reserve>(&call->command);
      if (reserve == nullptr || reserve->user.empty()) continue;
      if (users_.size() == kMost) users_.erase(users_.begin());
      users_.push_back({entry, reserve->token.id, reserve->user});
    }
  }

  // For this proxy's own entry, once it is read. Earlier entries that were not read are given up.
  void add_to(waiting::LogEntry& entry) {
    for (waiting::Command& command : entry.commands) {
      auto* const reserve = std::get_if<waiting::Reserve>(&command);
      if (reserve == nullptr) continue;
      for (const User& each : users_) {
        if (each.entry == entry.number && each.ticket == reserve->token.id)
          reserve->user = each.name;
      }
    }
    std::erase_if(users_, [&](const User& each) { return each.entry <= entry.number; });
  }

 private:
  static constexpr std::size_t kMost = 2 * RoomOutbox::kAtATime;

  struct User {
    std::uint64_t entry = 0;
    waiting::TicketId ticket;
    std::string name;  // TicketEvent::user
  };
  std::vector<User> users_;
};

}  // namespace spillway::proxy
