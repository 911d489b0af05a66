// Lanes, and the resources that are handed out in them: see stock.hpp and lane.hpp.
#include <algorithm>
#include <utility>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

std::vector<Lane> WaitingRoom::lanes_of(const Terms& terms) const {
  std::vector<Lane> lanes(std::max<std::size_t>(stock_.catalog().types().size(), 1));
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    if (hands_out()) lanes[n].type = stock_.catalog().types()[n];
    lanes[n].line = TieredLine(terms.tiers);
  }
  return lanes;
}

bool WaitingRoom::has_all_lanes() const {
  return lanes_.size() == std::max<std::size_t>(stock_.catalog().types().size(), 1) &&
         turn_.lane < lanes_.size() && std::ranges::all_of(lanes_, [](const Lane& lane) {
           return lane.kinds.size() <= kMostKinds;
         });
}

Called WaitingRoom::called() const {
  Called sum;
  for (const Lane& lane : lanes_) sum += lane.called;
  return sum;
}

std::size_t WaitingRoom::in_line() const {
  std::size_t size = 0;
  for (const Lane& lane : lanes_) size += lane.line.size();
  return size;
}

// The most sessions that it can have at a time.
std::size_t WaitingRoom::capacity_of(const Lane& lane) const {
  if (!hands_out()) return terms_.active_sessions;
  const auto number = static_cast<std::uint8_t>(&lane - lanes_.data());
  return std::min<std::size_t>(terms_.active_sessions, stock_.catalog().devices_of(number));
}

std::size_t WaitingRoom::sessions_of(const Lane& lane) const {
  if (!hands_out()) return sessions_.size();
  return static_cast<std::size_t>(std::ranges::count_if(stock_.devices(), [&](const Device& each) {
    return each.is_inside && each.type == lane.type;
  }));
}

// The kinds that a free device meets.
KindSet WaitingRoom::kinds_to_call(std::size_t lane) const {
  return hands_out() ? stock_.free_kinds(static_cast<std::uint8_t>(lane)) : kAnyKind;
}

// A called visitor comes. A reservation that was called while its visitor was away holds no device.
// It gets a free one if its turn is before all visitors at their pages; else it is back at its own
// place, and has missed no call.
bool WaitingRoom::has_resource(Slot slot, Time now) {
  Ticket& ticket = tickets_[slot];
  if (!hands_out() || stock_.of(ticket.id) != nullptr) return true;
  TieredLine& its = line(slot);
  its.set_present(member(slot), true);
  const Slot first = its.next_at_page(kinds_to_call(lane_number(slot)));
  const bool is_its_turn = first == slot || ticket.called == Call::by_hand;
  if (is_its_turn && stock_.give(ticket.id, stock_.wish(slot))) {
    its.set_present(member(slot), false);
    return true;
  }
  lane(slot).learned.away_came();
  prolong_own_wait(slot, now);
  count_call(slot, -1);
  ticket.called = Call::none;
  heard(slot, now);
  return false;
}

// Lanes take turns, so that none waits for another where the room's own caps are the limit.
Slot WaitingRoom::next_in_line(std::size_t free, std::size_t& steps) {
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    const std::size_t number = (turn_.lane + n) % lanes_.size();
    const TieredLine& line = lanes_[number].line;
    const KindSet kinds = kinds_to_call(number);
    Slot next = line.next(kinds);
    for (; next != kNoSlot && is_away(next) && !may_call_away(number, member(next).kind, free);
         next = line.next(kinds)) {
      if (steps == 0) return kNoSlot;
      --steps;
      pass_over(next);
    }
    if (next != kNoSlot) return next;
  }
  return kNoSlot;
}

std::string WaitingRoom::resource_of(const TicketId& id) const {
  const Device* const device = stock_.of(id);
  return device != nullptr ? device->name : std::string();
}

std::optional<Allotment> WaitingRoom::allotment(Slot slot) const {
  if (!hands_out()) return std::nullopt;
  const Wish& wish = stock_.wish(slot);
  return Allotment{.type = stock_.catalog().type_name(wish.type),
                   .resource = resource_of(tickets_[slot].id),
                   .duration = Milliseconds(wish.duration_ms),
                   .until = {},
                   .max_wait = Milliseconds(wish.max_wait_ms)};
}

View WaitingRoom::view_of_session(const TicketId& id) const {
  View view{.state = TicketState::fulfilled, .poll = terms_.longest_poll};
  const Device* const device = stock_.of(id);
  if (device == nullptr) return view;
  view.allotment = Allotment{.type = device->type,
                             .resource = device->name,
                             .duration = Milliseconds(device->wish.duration_ms),
                             .until = sessions_.end_of(id, terms_)};
  return view;
}

// Time::max(): its visitor set no limit.
Time WaitingRoom::end_of_own_wait(Slot slot) const {
  const std::uint32_t most = stock_.wish(slot).max_wait_ms;
  return most == 0 ? Time::max() : tickets_[slot].joined + Milliseconds(most);
}

// For a ticket with a limit. The wait is counted from its arrival, which may change.
void WaitingRoom::end_own_wait_at(Slot slot, Time end) {
  Wish wish = stock_.wish(slot);
  const std::int64_t most = (end - tickets_[slot].joined).count();
  wish.max_wait_ms =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(most, 1, std::int64_t{UINT32_MAX}));
  stock_.set_wish(slot, wish);
  journal_.note(tickets_[slot].id);
}

// A withdrawn call does not count against its wait: there is time for another call.
void WaitingRoom::prolong_own_wait(Slot slot, Time now) {
  if (end_of_own_wait(slot) < now + terms_.claim) end_own_wait_at(slot, now + terms_.claim);
}

void WaitingRoom::set_deadline(Slot slot, Time due) {
  deadlines_.set(slot, std::min(due, end_of_own_wait(slot)));
}

// A reload. A called visitor returns to its place and is usually called again at once: the resource
// it was called to may be gone, or another one.
void WaitingRoom::change_resources(const Terms& terms, Time now) {
  struct Waiting {
    Slot slot;
    Order order;
    bool is_present;
    Ask ask;
  };
  std::vector<Waiting> all;
  for (const Lane& lane : lanes_) {
    lane.line.each([&](Priority, const Line& line) {
      for (std::size_t n = 0; n < line.size(); ++n) {
        const Slot slot = line.at(n);
        all.push_back({slot, line.order(slot), line.is_present(slot) || tickets_[slot].is_reserved,
                       hands_out() ? stock_.catalog().say(stock_.wish(slot)) : Ask{}});
      }
    });
  }
  for (Waiting& each : all) {
    const Ticket& ticket = tickets_[each.slot];
    if (!ticket.is_called()) continue;
    withdraw_call(each.slot, now);
    each.ask.max_wait = Milliseconds(stock_.wish(each.slot).max_wait_ms);
    each.is_present = ticket.is_reserved || now < ticket.heard + ticket.interval() * 5 / 2;
    if (each.is_present) wait_for(each.slot);
  }
  stock_.change(terms.resources);
  sessions_.forget_stood();  // their requirements may mean nothing now
  std::vector<Lane> former = std::exchange(lanes_, lanes_of(terms));
  for (Lane& lane : lanes_) {
    const auto same = std::ranges::find(former, lane.type, &Lane::type);
    if (same == former.end()) continue;
    lane.learned = same->learned;
    lane.since = same->since;
    lane.calls = same->calls;
    lane.fulfilled = same->fulfilled;
  }
  turn_.lane = 0;
  for (const Waiting& each : all) {
    const std::optional<Wish> wish =
        hands_out() ? stock_.catalog().understand_again(each.ask) : Wish{};
    stock_.set_wish(each.slot, wish.value_or(Wish{}));
    line(each.slot).insert(member(each.slot), each.order);
    line(each.slot).set_present(member(each.slot), each.is_present);
    if (tickets_[each.slot].is_reserved) go_away(each.slot);
    tickets_[each.slot].told = {};
    journal_.note(tickets_[each.slot].id);
    if (!wish) end_ticket(each.slot, Ended::no_resource, now);
  }
}

void WaitingRoom::count_types(Counts& counts) const {
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    const Lane& lane = lanes_[n];
    TypeCounts& type = counts.types.emplace_back();
    type.name = lane.type;
    type.waiting = lane.line.size() - lane.called.all();
    type.free = stock_.free(static_cast<std::uint8_t>(n));
    type.fulfilled = lane.fulfilled;
    type.in_use = sessions_of(lane);
    type.called = lane.called.all() - lane.called.away;  // these have a resource
  }
}

}  // namespace spillway::waiting
