// How a visitor gets a place, and how a session begins.
#include <algorithm>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

WaitingRoom::Contact WaitingRoom::join(const TicketId& id, Time arrived, Time now,
                                       Priority priority, const UserKey& user, const Ask& ask) {
  if (sessions_.has(id)) {
    if (const auto session = sessions_.again(id, now, terms_))
      return {Door::enter, std::nullopt, session};
    end_session(id, Ended::copied, now);
    return {Door::full, std::nullopt, std::nullopt};
  }
  if (orders_.has_ended) return {Door::ended, std::nullopt, std::nullopt};
  if (const Slot known = find(id); known != kNoSlot) {
    heard(known, now);
    return {Door::wait, look(known), std::nullopt};
  }
  if (!is_open(now)) {
    begins_.add(now);
    users_.hold(user, id);
    return {Door::enter, std::nullopt, begin(id, 1, now)};
  }
  Wish wish;
  if (hands_out()) {
    const auto understood = stock_.catalog().understand(ask);
    const Wish* const known = std::get_if<Wish>(&understood);
    if (known == nullptr) return {Door::unmet, std::nullopt, std::nullopt};
    wish = *known;
  }
  const Door door = counted(would_give_ticket(priority, user, &wish));
  if (door != Door::wait || is_held()) return {door, std::nullopt, std::nullopt};
  const View view = seat(id, terms_.start.joined_at(arrived, now), now, priority, user, wish);
  return {.door = Door::wait, .view = view, .has_joined = true};
}

// Gives it a ticket.
WaitingRoom::View WaitingRoom::seat(const TicketId& id, Time joined, Time now, Priority priority,
                                    const UserKey& user, const Wish& wish) {
  const Slot slot = insert(id, joined, priority, wish);
  users_.hold(user, id);
  lane(slot).since.came[terms_.tiers.number_of(priority)] += 1;
  ++counts_.joined;
  heard(slot, now);
  View view = look(slot);
  const bool has_position = !view.is_drawn_later;
  note(Event::joined, slot, now, has_position ? static_cast<std::uint32_t>(view.ahead + 1) : 0);
  return view;
}

// Unlike a stamp it does not keep the waiting room open: a page that is left alone polls for hours.
WaitingRoom::Contact WaitingRoom::offer(const TicketId& id, Time now, Priority priority,
                                        const UserKey& user) {
  const bool is_known = sessions_.has(id) || find(id) != kNoSlot;
  if (is_known || !is_open(now)) return join(id, now, now, priority, user);
  return {counted(would_give_ticket(priority, user, nullptr)), std::nullopt, std::nullopt};
}

std::optional<WaitingRoom::Session> WaitingRoom::claim(const TicketId& id, Time now) {
  if (sessions_.has(id)) {
    auto session = sessions_.again(id, now, terms_);
    if (!session) end_session(id, Ended::copied, now);
    return session;
  }
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  heard(slot, now);
  Ticket& ticket = tickets_[slot];
  if (!ticket.is_called() || !has_resource(slot, now)) return std::nullopt;
  if (ticket.coming == Coming::fresh) lane(slot).learned.came();
  if (ticket.coming == Coming::away) {
    lane(slot).since.calls += 1;  // not counted at the call, since it might not come
    lane(slot).learned.away_came();
  }
  // Visitors that came earlier and found no room go first.
  const bool goes_first = ticket.coming == Coming::at_door;
  if (room(now) > (goes_first ? 0 : called().at_door)) {
    counts_.waited += std::max(now - ticket.joined, Milliseconds(0));
    ++counts_.tiers[terms_.tiers.number_of(ticket.priority)].fulfilled;
    ++lane(slot).fulfilled;
    note(Event::fulfilled, slot, now);
    const Stood stood{ticket.joined, ticket.priority, ticket.missed, ticket.failed,
                      ticket.is_reserved};
    forget(slot);
    begins_.add(now);
    ++counts_.fulfilled;
    const Session session = begin(id, 1, now);
    sessions_.note_stood(id, stood);
    return session;
  }
  if (!goes_first) become(slot, Coming::at_door);
  ticket.claim_until = std::max(ticket.claim_until, now + terms_.claim);
  // The response is the page: without scripts it polls again after kPageReload.
  ticket.has_page = true;
  ticket.fresh_until = now + ticket.interval() * 3 / 2 + kComing;
  wait_for(slot);
  return std::nullopt;
}

// The entry still counts for Terms::per_minute: the upstream was asked.
bool WaitingRoom::go_back(const TicketId& id, Time now) {
  const std::optional<Stood> where = sessions_.stood(id);
  if (!where || orders_.has_ended || where->failed + 1U >= terms_.attempts) return false;
  sessions_.take_back(id);
  ++counts_.entries_failed;
  const Device* const device = stock_.of(id);
  const Slot slot = insert(id, where->joined, where->priority, device ? device->wish : Wish{});
  stock_.take_back(id);
  prolong_own_wait(slot, now);
  lane(slot).since.calls -= 1;
  tickets_[slot].missed = where->missed;
  tickets_[slot].failed = static_cast<std::uint8_t>(where->failed + 1);
  tickets_[slot].is_reserved = where->is_reserved && terms_.reserve.is_on();
  heard(slot, now);
  return true;
}

Renewal WaitingRoom::use(const TicketId& id, std::uint32_t generation, Time issued, Time now,
                         const UserKey& user, const LatePass& late) {
  if (sessions_.has(id)) {
    const Renewal renewal = sessions_.use(id, generation, issued, now, terms_);
    if (renewal.use == Use::copied) end_session(id, Ended::copied, now);
    return renewal;
  }
  const bool is_first = is_unspent(id, generation, issued, now);
  if (!was_inside(id, generation, issued, now) && (!is_first || !provisional_.take(issued, now))) {
    if (is_first && (is_open(now) || room(now) == 0)) return come_late(id, issued, now, user, late);
    // Its visitor was inside, and away for too long: it may not go before those that wait.
    if (is_open(now) || room(now) == 0) return {Use::over, generation};
    begins_.add(now);
  }
  // If it was called before a restart, the store may not have that it came.
  const Slot slot = find(id);
  if (hands_out() && !stock_.of(id)) {  // it gets its device again, or one as good
    if (slot == kNoSlot || !stock_.give(id, stock_.wish(slot))) return {Use::over, generation};
  }
  if (slot != kNoSlot) {
    note(Event::fulfilled, slot, now);
    forget(slot);
  }
  users_.hold(user, id);
  return {Use::renewed, begin(id, generation + 1, now).generation};
}

// The first pass is good for a slice, also after a restart. A later one proves a use that may not
// have been stored.
bool WaitingRoom::was_inside(const TicketId& id, std::uint32_t generation, Time issued,
                             Time now) const {
  const bool was_let_in = is_unspent(id, generation, issued, now) && now - issued <= kSlice;
  const bool is_in_use = recovery_.age(issued, now) < kRenewAfter + terms_.idle;
  return recovery_.covers(id, issued, now) && is_in_use && (generation > 0 || was_let_in);
}

// A first pass that was not used for a ticket or a session that is over. Ends are kept for as long
// as such a pass is good.
bool WaitingRoom::is_unspent(const TicketId& id, std::uint32_t generation, Time issued,
                             Time now) const {
  return generation == 0 && now - issued <= first_pass_life() &&
         !ended_.has_ended(id, now - first_pass_life()) && !recovery_.has_ended(id);
}

bool WaitingRoom::takes_ticket(const TicketId& id, Time issued, Time now) const {
  const bool is_known = sessions_.has(id) || find(id) != kNoSlot;
  if (is_known || hands_out() || has_no_ticket_left() || !is_unspent(id, 0, issued, now))
    return false;
  if (was_inside(id, 0, issued, now) || provisional_.has(issued, now)) return false;
  return (is_open(now) || room(now) == 0) && room(now) <= called().at_door;
}

// Its visitor was inside, and its entry does not count any more: another may have its place by now.
Renewal WaitingRoom::come_late(const TicketId& id, Time issued, Time now, const UserKey& user,
                               const LatePass& late) {
  if (find(id) != kNoSlot && !orders_.has_ended) {
    const std::optional<Session> session = claim(id, now);
    return session ? Renewal{Use::renewed, session->generation} : Renewal{Use::waits, 0};
  }
  // No device is kept for a visitor without a ticket.
  if (find(id) != kNoSlot || hands_out()) return {Use::over, 0};
  // Called tickets keep no place free; visitors that came and found none go first.
  if (room(now) > called().at_door) {
    begins_.add(now);
    users_.hold(user, id);
    return {Use::renewed, begin(id, 1, now).generation};
  }
  if (has_no_ticket_left() || refuses(user)) return {Use::over, 0};
  if (is_held()) return {Use::held, 0};
  if (!late.may_join) return {Use::late, 0};
  seat(id, std::min(issued, now), now, late.priority, user, Wish{});
  return {Use::waits, 0};
}

}  // namespace spillway::waiting
