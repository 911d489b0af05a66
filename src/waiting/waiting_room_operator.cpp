// What programs ask of a waiting room, what the operator sees of it, and decides about it.
#include <algorithm>
#include <utility>

#include "waiting/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// Tickets that end in a tick once the room has: visitors wait for an answer meanwhile.
constexpr std::size_t kEndedAtOnce = 4096;

}  // namespace

void WaitingRoom::hold_open(bool is_held) {
  orders_.is_held_open = is_held;
  ++orders_.changes;
}

void WaitingRoom::pause(bool is_paused) {
  orders_.is_paused = is_paused;
  ++orders_.changes;
}

void WaitingRoom::tell(std::string message) {
  orders_.message = std::move(message);
  ++orders_.changes;
}

// Taken back, it revives nobody: those whom the sweep has not come to yet end like the others.
void WaitingRoom::end_room(bool has_ended) {
  if (has_ended && !orders_.has_ended) swept_ = 0;
  if (!has_ended && orders_.has_ended) end_some(tickets_.end(), last_);
  orders_.has_ended = has_ended;
  ++orders_.changes;
}

void WaitingRoom::end_some(Time now) { end_some(kEndedAtOnce, now); }

void WaitingRoom::end_some(std::size_t most, Time now) {
  const auto last = static_cast<Slot>(std::min<std::size_t>(swept_ + most, tickets_.end()));
  for (; swept_ < last; ++swept_) {
    if (find(tickets_[swept_].id) == swept_) end_ticket(swept_, Ended::room_ended, now);
  }
}

std::variant<TicketId, NotCalled> WaitingRoom::call_next(Time now) {
  if (orders_.has_ended) return NotCalled::room_ended;
  const Slot next = line_.next();
  if (next == kNoSlot) return NotCalled::nobody_present;
  // Those who did not come when they were called hold nobody up.
  if (called_.fresh + called_.at_door >= room(now)) return NotCalled::no_room;
  tickets_[next].told = {};  // this is beyond the pace
  call(next, now);
  tickets_[next].is_called_by_hand = true;
  return tickets_[next].id;
}

Moved WaitingRoom::move(const TicketId& id, std::size_t ahead) {
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return Moved::unknown;
  Ticket& ticket = tickets_[slot];
  if (ticket.is_called) return Moved::called;
  const TieredLine::Member it = member(slot);
  const bool is_present = line_.is_present(it);
  line_.remove(it);
  const Line& tier = line_.of(ticket.priority);
  const std::size_t others = tier.size();
  if (others == 0) {
    line_.insert(it, terms_.start.order_of(ticket.joined, id));
  } else {
    const Slot next = tier.at(std::min(ahead, others - 1));
    ticket.joined = tickets_[next].joined;
    if (ahead < others)
      line_.insert_before(it, next);
    else
      line_.insert(it, tier.order(next));
  }
  line_.set_present(it, is_present);
  ticket.told = {};
  ticket.least_ahead = ticket.least_own = UINT32_MAX;
  journal_.note(id);
  return Moved::moved;
}

std::optional<WaitingRoom::Report> WaitingRoom::inspect(const TicketId& id, Time) const {
  if (const auto begun = sessions_.begun(id)) {
    Report report{.id = id, .view = {.state = TicketState::fulfilled}};
    report.view.joined = *begun;
    return report;
  }
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  const Ticket& ticket = tickets_[slot];
  Report report{.id = id,
                .view = look(slot),
                .heard = ticket.heard,
                .is_present = line_.is_present(member(slot)),
                .missed = ticket.missed};
  if (is_held_back(ticket)) {
    report.view.state = TicketState::waiting;
    report.view.why = Why::paused;
  }
  return report;
}

std::vector<WaitingRoom::Report> WaitingRoom::list_line(const std::optional<Cursor>& after,
                                                        std::size_t most, Time now,
                                                        std::optional<Priority> tier) const {
  const std::size_t first = tier ? line_.before(*tier, 0) : 0;
  const std::size_t end = tier ? first + line_.of(*tier).size() : line_.size();
  std::size_t ahead = first;
  if (after) {
    const Slot last = find(after->id);
    ahead = std::max(first, last != kNoSlot
                                ? line_.ahead(member(last)).all() + 1
                                : line_.before(after->priority,
                                               terms_.start.order_of(after->joined, after->id)));
  }
  std::vector<Report> reports;
  for (; reports.size() < most && ahead < end; ++ahead) {
    if (auto report = inspect(tickets_[*line_.at(ahead)].id, now)) reports.push_back(*report);
  }
  return reports;
}

std::vector<WaitingRoom::Report> WaitingRoom::list_user(const UserKey& user, std::size_t most,
                                                        Time now) const {
  std::vector<Report> reports;
  for (const TicketId& id : users_.list(user, most)) {
    if (auto report = inspect(id, now)) reports.push_back(*report);
  }
  return reports;
}

std::vector<WaitingRoom::Report> WaitingRoom::list_sessions(Slot& at, std::size_t most) const {
  std::vector<Place> places;
  at = sessions_.list(at, most, places);
  std::vector<Report> reports;
  for (const Place& place : places) {
    Report report{.id = place.id, .view = {.state = TicketState::fulfilled}};
    report.view.joined = place.since;
    reports.push_back(report);
  }
  return reports;
}

}  // namespace spillway::waiting
