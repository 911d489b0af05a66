// Places that are kept while their visitors are away, who are called there ("leave and be called").
//
// A reserved ticket counts as present: it is next when its turn comes. If its visitor has not been
// heard of lately, or since a restart, it is away; of these as many are expected as lately came
// when they were called. Nobody knows whether its visitor comes, nor when, so no session is kept
// free for it, and others are called at the same time; when it comes it goes before them
// (Coming::at_door). So that those who come find room soon, only some are called at a time; others
// are passed over until there are fewer again.
#include <algorithm>
#include <tuple>
#include <utility>

#include "waiting/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// Of the visitors that are let in within ReserveTerms::claim, so many may be such as were away.
constexpr double kAwayShare = 0.5;

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
  const bool is_granted = may_reserve(tickets_[slot]);
  if (is_granted) {
    keep_place(slot);
    note_reserved(slot, now, std::move(user));
  }
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

// How many may be called while they are away. Sessions that are free would be idle otherwise.
std::size_t WaitingRoom::away_at_once(const Lane& lane, std::size_t free) const {
  const double share = kAwayShare * calls_within(terms_.reserve.claim, lane).expected();
  return std::max({static_cast<std::size_t>(share), free, std::size_t{1}});
}

void WaitingRoom::pass_over(Slot slot) {
  line(slot).set_present(member(slot), false);
  lane(slot).passed_over.insert(slot);
}

// As many as may be called again: those first that have missed fewer calls, so that visitors that
// never come hold up no other. Some may have ended meanwhile, or be back.
void WaitingRoom::bring_forward(std::size_t free) {
  for (Lane& lane : lanes_) {
    if (lane.passed_over.empty()) continue;
    const std::size_t most = away_at_once(lane, free);
    if (lane.called.away >= most) continue;
    std::vector<std::tuple<std::uint32_t, std::size_t, Slot>> waiting;  // missed, ahead
    for (const Slot slot : lane.passed_over) {
      const Ticket& ticket = tickets_[slot];
      const bool is_there = find(ticket.id) == slot && ticket.is_reserved && !ticket.is_called();
      if (is_there && !line(slot).is_present(member(slot)))
        waiting.emplace_back(ticket.missed, line(slot).ahead(member(slot)).all(), slot);
    }
    const std::size_t some = std::min(most - lane.called.away, waiting.size());
    std::ranges::partial_sort(waiting, waiting.begin() + static_cast<std::ptrdiff_t>(some));
    lane.passed_over.clear();
    for (std::size_t n = 0; n < waiting.size(); ++n) {
      const Slot slot = std::get<2>(waiting[n]);
      if (n < some)
        line(slot).set_present(member(slot), true);
      else
        lane.passed_over.insert(slot);
    }
  }
}

// A reload. Without reservations those that there were have as long to come back as any visitor.
void WaitingRoom::reserve_anew(Time now) {
  for (Slot slot = 0; slot < tickets_.end(); ++slot) {
    Ticket& ticket = tickets_[slot];
    if (!ticket.is_reserved || find(ticket.id) != slot) continue;
    if (!terms_.reserve.is_on()) {
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
