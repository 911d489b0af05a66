// Reservations: places kept while visitors are away, who are called there ("leave and be called").
//
// A reserved ticket counts as present: it is called when its turn comes. It is away if its visitor
// did not poll lately, or not since a restart. Whether and when an absent visitor comes is not
// known. So no session is kept free for it, and other tickets are called at the same time; when it
// comes it goes before them (Coming::at_door). Nor is a resource kept: others get it, and a visitor
// that comes and finds none is at its own place, before them (has_resource). Estimates expect the
// share of absent visitors that came lately. Only some are called at a time, so that a visitor that
// comes finds room soon; the others are passed over until fewer are called.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// The part of the visitors let in within ReserveTerms::claim that may be called while away.
constexpr double kAwayShare = 0.5;

PassedOver key_of(Slot slot, const TicketRecord& ticket, const TieredLine& line) {
  const auto below = static_cast<std::uint8_t>(UINT8_MAX - ticket.priority);
  return {ticket.missed, below, line.of(ticket.priority).order(slot), slot};
}

}  // namespace

bool WaitingRoom::may_reserve(const Ticket& ticket) const {
  if (!terms_.reserve.is_on() || ticket.is_called() || ticket.is_reserved) return false;
  return terms_.reserve.anonymous || !users_.of(ticket.id).is_nobody();
}

std::optional<WaitingRoom::Grant> WaitingRoom::reserve(const TicketId& id, Time now,
                                                       std::string user) {
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  heard(slot, now);
  const Ticket& ticket = tickets_[slot];
  const bool is_granted = may_reserve(ticket);
  if (is_granted) keep_place(slot);
  // The user of an existing reservation may not be in an event yet: another process noted it, which
  // has ended since, or the visitor was anonymous then.
  const bool is_news = ticket.is_reserved && !ticket.here.has_told_user && !user.empty();
  if (is_granted || is_news) note_reserved(slot, now, std::move(user));
  return Grant{look(slot), is_granted};
}

void WaitingRoom::keep_place(Slot slot) {
  tickets_[slot].is_reserved = true;
  journal_.note(tickets_[slot].id);
  wait_for(slot);
}

Milliseconds WaitingRoom::kept_for(const Ticket& ticket) const {
  const Milliseconds poll = ticket.interval();
  const Milliseconds kept = std::max(terms_.abandon, poll + poll / 2);
  return ticket.is_reserved ? std::max(terms_.reserve.keep, kept) : kept;
}

// How many visitors with such a requirement are let in within ReserveTerms::claim. Before any call
// was seen, by the usual length of a session.
double WaitingRoom::let_in_while_called(const Lane& lane, std::uint8_t kind) const {
  const double all = calls_within(terms_.reserve.claim, lane).expected();
  if (!hands_out()) return all;
  const auto type = static_cast<std::uint8_t>(&lane - lanes_.data());
  const Catalog& catalog = stock_.catalog();
  const auto devices = static_cast<double>(catalog.devices_of(type));
  const auto enough = static_cast<double>(catalog.devices_for(type, kind));
  const Milliseconds stay = terms_.expected_stay.value_or(terms_.resources.usual_duration);
  const double claims = static_cast<double>(terms_.reserve.claim.count());
  const double ends =
      devices * claims / static_cast<double>(std::max<std::int64_t>(stay.count(), 1));
  return (lane.learned.knows_calls() ? all : std::min(all, ends)) * enough / devices;
}

// Limits the called visitors that are away, for each requirement.
bool WaitingRoom::may_call_away(std::size_t number, std::uint8_t kind, std::size_t free) const {
  const Lane& lane = lanes_[number];
  KindSet kinds = kAnyKind;
  if (hands_out()) {
    const auto type = static_cast<std::uint8_t>(number);
    kinds = stock_.catalog().within(type, kind);
    free = std::min(free, stock_.free(type, kind));
  }
  const auto share = static_cast<std::size_t>(kAwayShare * let_in_while_called(lane, kind));
  return lane.called_away(kinds) < std::max({share, free, std::size_t{1}});
}

void WaitingRoom::pass_over(Slot slot) {
  const TieredLine::Member it = member(slot);
  line(slot).set_present(it, false);
  lane(slot).away_of(it.kind).passed_over.insert(key_of(slot, tickets_[slot], line(slot)));
}

// It is not passed over any more. Returns whether it was.
bool WaitingRoom::bring_forward(Slot slot) {
  const Ticket& ticket = tickets_[slot];
  if (!ticket.is_reserved) return false;
  std::set<PassedOver>& its = lane(slot).away_of(member(slot).kind).passed_over;
  return its.erase(key_of(slot, ticket, line(slot))) > 0;
}

// An absent ticket that has missed calls goes behind those that have missed fewer, so that visitors
// that never come do not hold up the others.
void WaitingRoom::go_away(Slot slot) {
  line(slot).set_away(member(slot), true);
  if (tickets_[slot].missed > 0) pass_over(slot);
}

// Tickets that were passed over go first, since their turn has been; but a ticket whose turn comes
// now and that has missed fewer calls goes before them.
Slot WaitingRoom::take_turn(std::size_t free, std::size_t& steps) {
  const Slot next = next_in_line(free, steps);
  for (std::size_t number = 0; number < lanes_.size(); ++number) {
    const PassedOver* const first = first_passed_over(number, free);
    if (first == nullptr) continue;
    const bool is_later = next != kNoSlot && is_away(next) && tickets_[next].missed < first->missed;
    return is_later ? next : first->slot;
  }
  return next;
}

// The first of those that may be called; null: none.
const PassedOver* WaitingRoom::first_passed_over(std::size_t number, std::size_t free) const {
  const Lane& lane = lanes_[number];
  const KindSet kinds = kinds_to_call(number);
  const PassedOver* first = nullptr;
  for (std::size_t n = 0; n < lane.kinds.size(); ++n) {
    const std::set<PassedOver>& its = lane.kinds[n].passed_over;
    if (its.empty() || (kinds >> n & 1) == 0 || (first != nullptr && *first < *its.begin()))
      continue;
    if (may_call_away(number, static_cast<std::uint8_t>(n), free)) first = &*its.begin();
  }
  return first;
}

// A reload. If reservations are now off, reserved tickets have as long to poll as any other.
void WaitingRoom::reserve_anew(Time now) {
  for (Slot slot = 0; slot < tickets_.end(); ++slot) {
    Ticket& ticket = tickets_[slot];
    if (!ticket.is_reserved || find(ticket.id) != slot) continue;
    if (!terms_.reserve.is_on()) {
      bring_forward(slot);
      ticket.is_reserved = false;
      ticket.heard = now;
      journal_.note(ticket.id);
      line(slot).set_away(member(slot), false);
      if (!ticket.is_called()) line(slot).set_present(member(slot), true);
    }
    if (!ticket.is_called()) wait_for(slot);
  }
}

}  // namespace spillway::waiting
