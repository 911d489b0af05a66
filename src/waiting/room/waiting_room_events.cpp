// The events of tickets, for webhooks: see ticket_events.hpp.
#include <algorithm>
#include <utility>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// An event each time this percentage is left of the visitors that were ahead at first.
constexpr std::array<std::uint32_t, 3> kWayLeft{50, 25, 10};
// With fewer ahead, the call comes as soon as the event would.
constexpr std::uint32_t kLeastWay = 10;

Event event_of(Ended why) { return is_expiry(why) ? Event::expired : Event::cancelled; }

}  // namespace

void WaitingRoom::note(Event event, Slot slot, Time now, std::uint32_t position) {
  const Ticket& ticket = tickets_[slot];
  TicketEvent ticket_event{.event = event,
                           .id = ticket.id,
                           .at = now,
                           .waited = std::max(now - ticket.joined, Milliseconds(0)),
                           .position = position,
                           .priority = ticket.priority,
                           .is_reserved = ticket.is_reserved};
  if (event == Event::called) ticket_event.claim = ticket.claim_until - now;
  if (ticket_events_.wants(event)) add_allotment(ticket_event, slot);
  ticket_events_.note(std::move(ticket_event));
}

void WaitingRoom::note_reserved(Slot slot, Time now, std::string user) {
  Ticket& ticket = tickets_[slot];
  ticket.here.has_told_user = ticket.here.has_told_user || !user.empty();
  ticket_events_.note({.event = Event::reserved,
                       .id = ticket.id,
                       .at = now,
                       .waited = std::max(now - ticket.joined, Milliseconds(0)),
                       .priority = ticket.priority,
                       .is_reserved = true,
                       .user = std::move(user)});
}

void WaitingRoom::note_end(Slot slot, Ended why, Time now) {
  const Ticket& ticket = tickets_[slot];
  TicketEvent ticket_event{.event = event_of(why),
                           .id = ticket.id,
                           .at = now,
                           .waited = std::max(now - ticket.joined, Milliseconds(0)),
                           .priority = ticket.priority,
                           .cause = why,
                           .is_reserved = ticket.is_reserved};
  if (ticket_events_.wants(ticket_event.event)) add_allotment(ticket_event, slot);
  ticket_events_.note(std::move(ticket_event));
}

void WaitingRoom::add_allotment(TicketEvent& ticket_event, Slot slot) const {
  if (!hands_out()) return;
  ticket_event.type = lane(slot).type;
  if (const Device* const device = stock_.of(ticket_event.id)) ticket_event.resource = device->name;
}

// At a contact, with `ahead` tickets ahead. Several steps at a time are one event.
void WaitingRoom::note_way(Slot slot, std::uint32_t ahead, Time now) {
  Ticket& ticket = tickets_[slot];
  if (ticket.first_ahead == UINT32_MAX) ticket.first_ahead = ahead;
  if (ticket.first_ahead < kLeastWay) return;
  const auto steps = std::ranges::count_if(kWayLeft, [&](std::uint32_t percent) {
    return std::uint64_t{ahead} * 100 <= std::uint64_t{ticket.first_ahead} * percent;
  });
  if (steps <= ticket.steps) return;
  ticket.steps = static_cast<std::uint8_t>(steps);
  note(Event::position, slot, now, ahead + 1);
}

}  // namespace spillway::waiting
