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

// It has a ticket from now on.
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

// It does not hold the waiting room open as a stamp does: a page that is left alone asks for hours.
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
    lane(slot).since.calls += 1;  // that it comes was not known
    lane(slot).learned.away_came();
  }
  // Those who came before and found no room go first.
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
  // The page follows: without scripts it asks again after kPageReload.
  ticket.has_page = true;
  ticket.fresh_until = now + ticket.interval() * 3 / 2 + kComing;
  wait_for(slot);
  return std::nullopt;
}

// The entry counts for Terms::per_minute all the same: the upstream was asked.
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
    // Somebody who was inside, and was away for too long: not before those who wait.
    if (is_open(now) || room(now) == 0) return {Use::over, generation};
    begins_.add(now);
  }
  // If it was called before a restart, that it came was not written.
  const Slot slot = find(id);
  if (hands_out() && !stock_.of(id)) {  // it has its device again, or one as good
    if (slot == kNoSlot || !stock_.give(id, stock_.wish(slot))) return {Use::over, generation};
  }
  if (slot != kNoSlot) {
    note(Event::fulfilled, slot, now);
    forget(slot);
  }
  users_.hold(user, id);
  return {Use::renewed, begin(id, generation + 1, now).generation};
}

// The first pass is good for a slice, also over a restart. A later one shows a use that may not
// have been written down.
bool WaitingRoom::was_inside(const TicketId& id, std::uint32_t generation, Time issued,
                             Time now) const {
  const bool was_let_in = is_unspent(id, generation, issued, now) && now - issued <= kSlice;
  const bool is_in_use = recovery_.age(issued, now) < kRenewAfter + terms_.idle;
  return recovery_.covers(id, issued, now) && is_in_use && (generation > 0 || was_let_in);
}

// A first pass that has become neither a ticket nor a session that is over. Ends are remembered for
// as long as such a pass is good.
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

// Its visitor was inside, and its entry does not count any more: the place may be another's by now.
Renewal WaitingRoom::come_late(const TicketId& id, Time issued, Time now, const UserKey& user,
                               const LatePass& late) {
  if (find(id) != kNoSlot && !orders_.has_ended) {
    const std::optional<Session> session = claim(id, now);
    return session ? Renewal{Use::renewed, session->generation} : Renewal{Use::waits, 0};
  }
  // No device is kept for one without a ticket.
  if (find(id) != kNoSlot || hands_out()) return {Use::over, 0};
  // A call holds no place free; those who came and found none go first.
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
