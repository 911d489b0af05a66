// The live tickets and sessions of verified users, about 100 bytes each. Those of other visitors
// take no memory here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "waiting/line/identified_pool.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/user_key.hpp"

namespace spillway::waiting {

class Users {
 public:
  // Nothing if the user is not verified, or the id is held already.
  void hold(const UserKey& user, const TicketId& id);
  // The ticket or session has ended. Nothing if no user holds it.
  void release(const TicketId& id);

  // How many the user holds, and the newest `most` of them, the newest first.
  std::size_t count(const UserKey& user) const;
  std::vector<TicketId> list(const UserKey& user, std::size_t most) const;
  // The user that holds it; is_nobody() if none does.
  UserKey of(const TicketId& id) const;

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.held_, self.users_);
  }

  struct Held {
    TicketId id;
    Slot user = kNoSlot;
    Slot older = kNoSlot;
    Slot newer = kNoSlot;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.id, self.user, self.older, self.newer);
    }
  };
  struct User {
    TicketId id;  // the bytes of its key
    Slot newest = kNoSlot;
    std::uint32_t count = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.id, self.newest, self.count);
    }
  };

  Slot find(const UserKey& user) const { return users_.find({user.bytes}); }

  IdentifiedPool<Held> held_;
  IdentifiedPool<User> users_;
};

}  // namespace spillway::waiting
