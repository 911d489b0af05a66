#include "waiting/session/users.hpp"

namespace spillway::waiting {

void Users::hold(const UserKey& user, const TicketId& id) {
  if (user.is_nobody() || held_.find(id) != kNoSlot) return;
  Slot owner = find(user);
  if (owner == kNoSlot) owner = users_.take({user.bytes});
  const Slot slot = held_.take(id);
  Held& held = held_[slot];
  held.user = owner;
  held.older = users_[owner].newest;
  if (held.older != kNoSlot) held_[held.older].newer = slot;
  users_[owner].newest = slot;
  ++users_[owner].count;
}

void Users::release(const TicketId& id) {
  const Slot slot = held_.find(id);
  if (slot == kNoSlot) return;
  const Held held = held_[slot];
  if (held.older != kNoSlot) held_[held.older].newer = held.newer;
  if (held.newer != kNoSlot)
    held_[held.newer].older = held.older;
  else
    users_[held.user].newest = held.older;
  held_.give_back(slot);
  if (--users_[held.user].count == 0) users_.give_back(held.user);
}

std::size_t Users::count(const UserKey& user) const {
  const Slot owner = find(user);
  return owner == kNoSlot ? 0 : users_[owner].count;
}

std::vector<TicketId> Users::list(const UserKey& user, std::size_t most) const {
  std::vector<TicketId> ids;
  const Slot owner = find(user);
  if (owner == kNoSlot) return ids;
  for (Slot slot = users_[owner].newest; slot != kNoSlot && ids.size() < most;
       slot = held_[slot].older)
    ids.push_back(held_[slot].id);
  return ids;
}

UserKey Users::of(const TicketId& id) const {
  const Slot slot = held_.find(id);
  return slot == kNoSlot ? UserKey{} : UserKey{users_[held_[slot].user].id.bytes};
}

}  // namespace spillway::waiting
