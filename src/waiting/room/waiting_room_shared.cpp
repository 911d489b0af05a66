// Additional functions of a waiting room that several proxies share: see replica.hpp.
#include <algorithm>

#include "waiting/place/by_tie.hpp"
#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// Moves a ticket that has just been inserted, behind all of its order, so that `tie` of them stand
// before it, or as many as there are.
void stand_among_equals(TieredLine& line, const TieredLine::Member& member, std::uint32_t tie) {
  const Line& tier = line.of(member.priority);
  const std::size_t wanted = tier.before(tier.order(member.slot)) + tie;
  if (wanted >= tier.ahead(member.slot).all) return;
  const Slot next = tier.at(wanted);
  line.remove(member);
  line.insert_before(member, next);
}

}  // namespace

std::optional<WaitingRoom::View> WaitingRoom::peek(const TicketId& id) const {
  if (sessions_.has(id)) return view_of_session(id);
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  return look(slot);
}

bool WaitingRoom::may_be_inside(const TicketId& id, std::uint32_t generation, Time issued,
                                Time now) const {
  if (sessions_.has(id)) return true;
  if (ended_.has_session(id, now)) return false;
  if (generation == 0) return is_unspent(id, generation, issued, now);
  return recovery_.covers(id, issued, now);
}

bool WaitingRoom::take_poll(const TicketId& id) {
  const Slot slot = find(id);
  return slot == kNoSlot || tickets_[slot].polls.take();
}

WaitingRoom::Door WaitingRoom::look_at_door(Time now, Priority priority, const UserKey& user,
                                            bool wants_ticket) const {
  return wants_ticket || is_open(now) ? would_give_ticket(priority, user, nullptr) : Door::enter;
}

void WaitingRoom::count(const Turned& turned, Time now) {
  counts_.refused += turned.full;
  counts_.refused_users += turned.taken;
  if (turned.has_stamped) stamp(now);
}

void WaitingRoom::pardon(Time now) {
  sessions_.stay_all(now, terms_);
  const std::vector<bool> taken = tickets_.taken();
  for (Slot slot = 0; slot < taken.size(); ++slot) {
    if (!taken[slot]) continue;
    Ticket& ticket = tickets_[slot];
    const Milliseconds poll = ticket.interval();
    ticket.heard = now;
    if (ticket.is_called()) {
      const Milliseconds claim = ticket.is_reserved ? terms_.reserve.claim : terms_.claim;
      ticket.fresh_until = now + poll * 3 / 2 + kComing;
      ticket.claim_until = std::max(ticket.claim_until, now + claim);
      // It may not be at its page: no session is kept free for it.
      if (ticket.is_reserved && ticket.coming == Coming::fresh) {
        become(slot, Coming::away);
        lane(slot).since.calls -= 1;
      }
    } else {
      const bool is_passed_over = bring_forward(slot);
      line(slot).set_present(member(slot), true);
      if (ticket.is_reserved) go_away(slot);
      if (is_passed_over) pass_over(slot);
    }
    wait_for(slot);
  }
}

void WaitingRoom::bring_back(std::span<const Place> places, Time now) {
  for (const Place* const each : by_tie(places)) {
    const Place& place = *each;
    const Slot slot = find(place.id);
    // It comes from a row of the log, which may have any value.
    const Ended why =
        static_cast<std::size_t>(place.why) < kEndedCount ? place.why : Ended::cancelled;
    if (place.kind == Place::Kind::left && slot != kNoSlot) {
      stock_.take_back(place.id);
      forget(slot);
      begins_.add(now);
      ++counts_.entered;
      end_session(place.id, why, now);
      continue;
    }
    if (!place.is_here()) {
      cancel(place.id, now, why);
      continue;
    }
    const std::optional<End> end = ended_.find(place.id, now);
    const bool is_over = end && end->why != Ended::abandoned && end->why != Ended::idle;
    if (is_over || sessions_.has(place.id)) continue;
    if (place.kind == Place::Kind::session) {
      stock_.take_back(place.id);  // of a called ticket: its session has another one
      if (!restore_session(place, now, now)) {
        if (slot != kNoSlot && tickets_[slot].is_called()) withdraw_call(slot, now);
        continue;
      }
      if (slot != kNoSlot) forget(slot);
      begins_.add(now);
      journal_.note(place.id);
      ++counts_.entered;
    } else if (slot == kNoSlot && !orders_.has_ended) {
      const std::optional<Wish> wish = wish_of(place);
      if (!wish) continue;
      const Slot made = insert(place.id, std::min(place.since, now), place.priority, *wish);
      if (place.order) stand(made, *place.order);
      stand_among_equals(line(made), member(made), place.tie);
      tickets_[made].missed = static_cast<std::uint8_t>(std::min(place.missed, 255U));
      heard(made, now);
    }
    const Slot now_at = find(place.id);
    if (sessions_.has(place.id) || now_at != kNoSlot) users_.hold(place.user, place.id);
    const bool may_be_away = place.kind == Place::Kind::ticket && place.is_reserved;
    if (may_be_away && now_at != kNoSlot && may_reserve(tickets_[now_at])) {
      heard(now_at, now);
      go_away(now_at);
      keep_place(now_at);
    }
  }
}

}  // namespace spillway::waiting
