// What is told of tickets to those outside: see happenings.hpp.
#include <algorithm>

#include "waiting/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// Of the visitors that were ahead first, so many per cent are left.
constexpr std::array<std::uint32_t, 3> kWayLeft{50, 25, 10};
// From fewer on the call is as near as the news of it.
constexpr std::uint32_t kLeastWay = 10;

Event event_of(Ended why) { return is_expiry(why) ? Event::expired : Event::cancelled; }

}  // namespace

void WaitingRoom::note(Event event, const Ticket& ticket, Time now, std::uint32_t position) {
  happenings_.note({.event = event,
                    .id = ticket.id,
                    .at = now,
                    .waited = std::max(now - ticket.joined, Milliseconds(0)),
                    .position = position,
                    .priority = ticket.priority});
}

void WaitingRoom::note_end(const Ticket& ticket, Ended why, Time now) {
  happenings_.note({.event = event_of(why),
                    .id = ticket.id,
                    .at = now,
                    .waited = std::max(now - ticket.joined, Milliseconds(0)),
                    .priority = ticket.priority,
                    .cause = why});
}

// It is heard of, with so many ahead. Several steps at a time are one event.
void WaitingRoom::note_way(Ticket& ticket, std::uint32_t ahead, Time now) {
  if (ticket.first_ahead == UINT32_MAX) ticket.first_ahead = ahead;
  if (ticket.first_ahead < kLeastWay) return;
  const auto steps = std::ranges::count_if(kWayLeft, [&](std::uint32_t percent) {
    return std::uint64_t{ahead} * 100 <= std::uint64_t{ticket.first_ahead} * percent;
  });
  if (steps <= ticket.steps) return;
  ticket.steps = static_cast<std::uint8_t>(steps);
  note(Event::position, ticket, now, ahead + 1);
}

}  // namespace spillway::waiting
