// What the operator sees of a waiting room and decides about it, also for programs.
#include <algorithm>
#include <utility>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

void WaitingRoom::hold_open(bool is_held) {
  orders_.is_held_open = is_held;
  ++orders_.changes;
}

void WaitingRoom::pause(bool is_paused) {
  orders_.is_paused = is_paused;
  ++orders_.changes;
}

void WaitingRoom::stop_calls() {
  pause(true);
  for (Slot slot = 0; slot < tickets_.end(); ++slot) {
    if (tickets_[slot].is_called()) tickets_[slot].called = Call::in_turn;
  }
}

void WaitingRoom::tell(std::string message) {
  orders_.message = std::move(message);
  ++orders_.changes;
}

// Revoking it revives no ticket: those that the sweep has not reached yet end like the others.
void WaitingRoom::end_room(bool has_ended) {
  if (has_ended && !orders_.has_ended) swept_ = 0;
  if (!has_ended && orders_.has_ended) end_some(tickets_.end(), last_);
  orders_.has_ended = has_ended;
  ++orders_.changes;
}

void WaitingRoom::end_some(std::size_t most, Time now) {
  const auto last = static_cast<Slot>(std::min<std::size_t>(swept_ + most, tickets_.end()));
  for (; swept_ < last; ++swept_) {
    if (find(tickets_[swept_].id) == swept_) end_ticket(swept_, Ended::room_ended, now);
  }
}

std::variant<TicketId, NotCalled> WaitingRoom::call_next(Time now, std::string_view type) {
  if (orders_.has_ended) return NotCalled::room_ended;
  const auto is_meant = [&](const Lane& lane) { return type.empty() || lane.type == type; };
  bool is_any_present = false;
  bool is_any_away = false;
  for (const Lane& lane : lanes_) {
    if (!is_meant(lane)) continue;
    const Line::Ahead away = lane.line.away();
    is_any_present = is_any_present || lane.line.present() > away.present;
    is_any_away = is_any_away || away.all > 0;
  }
  if (!is_any_present) return is_any_away ? NotCalled::all_away : NotCalled::nobody_present;
  if (!has_room_by_hand(now)) return NotCalled::no_room;
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    const std::size_t number = (turn_.lane + n) % lanes_.size();
    if (!is_meant(lanes_[number])) continue;
    const Slot next = lanes_[number].line.next_at_page(kinds_to_call(number));
    if (next != kNoSlot) return call_by_hand(next, now);
  }
  return NotCalled::no_room;
}

std::variant<TicketId, NotCalled> WaitingRoom::call_one(const TicketId& id, Time now) {
  if (orders_.has_ended) return NotCalled::room_ended;
  const Slot slot = find(id);
  if (slot == kNoSlot) return NotCalled::unknown;
  if (tickets_[slot].is_called()) return NotCalled::called;
  const bool is_enough = (kinds_to_call(lane_number(slot)) >> stock_.wish(slot).kind & 1) != 0;
  if (!is_enough || !has_room_by_hand(now)) return NotCalled::no_room;
  return call_by_hand(slot, now);
}

// Tickets whose visitors did not come when called do not count.
bool WaitingRoom::has_room_by_hand(Time now) const {
  const Called before = called();
  return before.fresh + before.at_door < room(now);
}

TicketId WaitingRoom::call_by_hand(Slot slot, Time now) {
  tickets_[slot].told = {};  // this call is beyond the pace
  call(slot, now);
  tickets_[slot].called = Call::by_hand;
  return tickets_[slot].id;
}

Moved WaitingRoom::move(const TicketId& id, std::size_t ahead) {
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return Moved::unknown;
  Ticket& ticket = tickets_[slot];
  if (ticket.is_called()) return Moved::called;
  const TieredLine::Member it = member(slot);
  TieredLine& its = line(slot);
  const bool is_present = its.is_present(it);
  const bool is_away = its.is_away(it);
  const bool is_passed_over = bring_forward(slot);
  its.remove(it);
  const Line& tier = its.of(ticket.priority);
  const std::size_t others = tier.size();
  if (others == 0) {
    its.insert(it, terms_.start.order_of(ticket.joined, id));
  } else {
    const Slot next = tier.at(std::min(ahead, others - 1));
    const Time ends = end_of_own_wait(slot);
    ticket.joined = tickets_[next].joined;
    if (ends != Time::max()) end_own_wait_at(slot, ends);
    if (ahead < others)
      its.insert_before(it, next);
    else
      its.insert(it, tier.order(next));
  }
  its.set_present(it, is_present);
  its.set_away(it, is_away);
  if (is_passed_over) pass_over(slot);
  ticket.told = {};
  ticket.least = {};
  note_ties(slot);
  return Moved::moved;
}

// Only Place::tie orders tickets of the same order, so each of them has to be stored again.
void WaitingRoom::note_ties(Slot slot) {
  const Line& tier = line(slot).of(tickets_[slot].priority);
  const Order order = tier.order(slot);
  for (std::size_t at = tier.before(order); at < tier.size(); ++at) {
    const Slot one = tier.at(at);
    if (tier.order(one) != order) break;
    journal_.note(tickets_[one].id);
  }
}

std::optional<WaitingRoom::Report> WaitingRoom::inspect(const TicketId& id, Time) const {
  if (const auto begun = sessions_.begun(id)) {
    Report report{.id = id, .view = view_of_session(id)};
    report.view.joined = *begun;
    return report;
  }
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  const Ticket& ticket = tickets_[slot];
  Report report{.id = id,
                .view = look(slot),
                .heard = ticket.heard,
                .is_present = line(slot).is_present(member(slot)) ||
                              (ticket.is_reserved && !ticket.is_called()),
                .is_away = is_away(slot) || (ticket.is_called() && ticket.coming == Coming::away),
                .missed = ticket.missed};
  if (is_held_back(ticket)) {
    report.view.state = TicketState::waiting;
    report.view.why = Why::paused;
  }
  return report;
}

std::vector<WaitingRoom::Report> WaitingRoom::list_line(const std::optional<Cursor>& after,
                                                        std::size_t most, Time now,
                                                        std::optional<Priority> tier,
                                                        std::string_view type) const {
  const Slot last = after ? find(after->id) : kNoSlot;
  const std::size_t begin = !after ? 0 : last != kNoSlot ? lane_number(last) : after->lane;
  std::vector<Report> reports;
  for (std::size_t n = begin; n < lanes_.size(); ++n) {
    if (!type.empty() && lanes_[n].type != type) continue;
    const TieredLine& line = lanes_[n].line;
    const std::size_t first = tier ? line.before(*tier, 0) : 0;
    const std::size_t end = tier ? first + line.of(*tier).size() : line.size();
    std::size_t ahead = first;
    if (after && n == begin) {
      const std::size_t behind =
          last != kNoSlot
              ? line.ahead(member(last)).all() + 1
              : line.before(after->priority, terms_.start.order_of(after->joined, after->id));
      ahead = std::max(first, behind);
    }
    for (; reports.size() < most && ahead < end; ++ahead) {
      if (auto report = inspect(tickets_[*line.at(ahead)].id, now)) {
        report->lane = n;
        reports.push_back(std::move(*report));
      }
    }
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
    Report report{.id = place.id, .view = view_of_session(place.id)};
    report.view.joined = place.since;
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace spillway::waiting
