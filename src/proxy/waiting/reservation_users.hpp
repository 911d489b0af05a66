// Users of reservations on their way through the log of a waiting room, which does not name them:
// the proxy that was asked has them ready for when it reads the row. It may read it late, after the
// database did not answer. Not thread-safe.
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
  // The entry of that number is to be written with these calls.
  void note(std::uint64_t entry, const RoomOutbox::Calls& calls) {
    for (const auto& call : calls) {
      const auto* const reserve = std::get_if<waiting::Reserve>(&call->command);
      if (reserve == nullptr || reserve->user.empty()) continue;
      if (users_.size() == kMost) users_.erase(users_.begin());
      users_.push_back({entry, reserve->token.id, reserve->user});
    }
  }

  // Of this proxy's own entry, once it is read. Entries of before that were not are given up.
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
