#include "waiting/room/waiting_room.hpp"

#include <algorithm>
#include <utility>

namespace spillway::waiting {

namespace {

// The share of visitors that still come, if they did not come at once.
constexpr double kLateShare = 0.01;

// Calls that may be made at once after kSecondsTogether without calls: so a few slots of a small
// room that become free together are taken together.
constexpr double kCallsTogether = 5;
constexpr double kSecondsTogether = 5;

// The most absent tickets that a tick calls or passes over: requests of visitors have to wait
// meanwhile.
constexpr std::size_t kAwayAtOnce = 4096;
// The same for tickets that end because the room has ended.
constexpr std::size_t kEndedAtOnce = 4096;

}  // namespace

WaitingRoom::WaitingRoom(const Terms& terms)
    : terms_(terms), stock_(terms.resources), lanes_(lanes_of(terms)), begins_(terms.per_minute) {}

void WaitingRoom::set_terms(const Terms& terms, Time now) {
  if (terms.tiers != terms_.tiers) {
    std::array<TierCounts, kMostTiers> tiers{};
    for (std::size_t n = 0; n < terms_.tiers.count; ++n)
      tiers[terms.tiers.number_of(terms_.tiers.list[n].priority)].fulfilled +=
          counts_.tiers[n].fulfilled;
    counts_.tiers = tiers;
    for (Lane& lane : lanes_) {
      lane.line.set_tiers(terms.tiers);
      lane.learned.forget_tiers();
      lane.since.came = {};
    }
  }
  if (!terms.resources.hands_out_as(terms_.resources))
    change_resources(terms, now);
  else
    stock_.set_bounds(terms.resources);
  if (!hands_out()) change_pace(terms, now);
  const Start former = terms_.start;
  const ReserveTerms reserve = terms_.reserve;
  terms_ = terms;
  // The former start has already sorted the tickets in line.
  if (former.is_over(last_) && terms.start.is_over(now)) terms_.start = former;
  begins_.set_per_minute(terms.per_minute);
  if (terms_.start != former) order_anew(now);
  if (terms_.reserve != reserve) reserve_anew(now);
}

// The start was postponed, or places are to be drawn after all.
void WaitingRoom::order_anew(Time now) {
  for (Slot slot = 0; slot < tickets_.end(); ++slot) {
    Ticket& ticket = tickets_[slot];
    if (find(ticket.id) != slot) continue;
    if (ticket.called == Call::in_turn && !terms_.start.is_over(now)) withdraw_call(slot, now);
    stand(slot, terms_.start.order_of(ticket.joined, ticket.id));
    ticket.told = {};
    ticket.least = {};
    ticket.first_ahead = UINT32_MAX;
    ticket.steps = 0;
  }
}

// Number of sessions that could begin now.
std::size_t WaitingRoom::room(Time now) const {
  const std::size_t taken = sessions_.size() + provisional_.count(now);
  const std::size_t left = taken < terms_.active_sessions ? terms_.active_sessions - taken : 0;
  return std::min(left, begins_.remaining(now));
}

WaitingRoom::Session WaitingRoom::begin(const TicketId& id, std::uint32_t generation, Time now) {
  ++counts_.entered;
  journal_.note(id);
  stock_.enter(id);
  const Device* const device = stock_.of(id);
  const Milliseconds most(device != nullptr ? device->wish.duration_ms : 0);
  return sessions_.begin(id, generation, now, terms_, most);
}

Slot WaitingRoom::insert(const TicketId& id, Time joined, Priority priority, const Wish& wish) {
  const Slot slot = tickets_.take(id);
  Ticket& ticket = tickets_[slot];
  ticket.joined = joined;
  ticket.priority = priority;
  stock_.set_wish(slot, wish);
  line(slot).insert(member(slot), terms_.start.order_of(joined, id));
  journal_.note(id);
  return slot;
}

void WaitingRoom::stand(Slot slot, Order order) {
  TieredLine& its = line(slot);
  const TieredLine::Member it = member(slot);
  const bool is_present = its.is_present(it);
  const bool is_away = its.is_away(it);
  const bool is_passed_over = bring_forward(slot);
  its.remove(it);
  its.insert(it, order);
  its.set_present(it, is_present);
  its.set_away(it, is_away);
  if (is_passed_over) pass_over(slot);
}

std::optional<WaitingRoom::View> WaitingRoom::hear(const TicketId& id, Time now) {
  if (sessions_.has(id)) return view_of_session(id);
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  heard(slot, now);
  return look(slot);
}

std::optional<WaitingRoom::View> WaitingRoom::show_page(const TicketId& id, Time now) {
  std::optional<View> view = hear(id, now);
  if (const Slot slot = find(id); view && slot != kNoSlot) {
    tickets_[slot].has_page = true;
    wait_for(slot);
  }
  return view;
}

std::uint32_t WaitingRoom::follow(const TicketId& id) {
  const Slot slot = find(id);
  return slot == kNoSlot ? 0 : ++tickets_[slot].here.streams;
}

bool WaitingRoom::is_superseded(const TicketId& id, std::uint32_t stream) const {
  const Slot slot = find(id);
  return slot != kNoSlot && tickets_[slot].here.streams > stream;  // fewer: of another copy
}

void WaitingRoom::count_call(Slot slot, int by) {
  const Ticket& ticket = tickets_[slot];
  lane(slot).called.of(ticket.coming) += static_cast<std::size_t>(by);
  if (ticket.coming == Coming::away) lane(slot).away_of(member(slot).kind).called += by;
}

void WaitingRoom::become(Slot slot, Coming coming) {
  count_call(slot, -1);
  tickets_[slot].coming = coming;
  count_call(slot, 1);
  if (coming == Coming::away) stock_.take_back(tickets_[slot].id);
}

std::optional<WaitingRoom::Grant> WaitingRoom::extend(const TicketId& id, Time now) {
  const Slot slot = find(id);
  if (slot == kNoSlot || orders_.has_ended) return std::nullopt;
  heard(slot, now);
  Ticket& ticket = tickets_[slot];
  const bool is_granted = ticket.is_called() && ticket.extended < terms_.claim_extensions;
  if (is_granted) {
    ++ticket.extended;
    ticket.claim_until = std::max(ticket.claim_until, now + terms_.claim);
    wait_for(slot);
  }
  return Grant{look(slot), is_granted};
}

bool WaitingRoom::cancel(const TicketId& id, Time now, Ended why, std::optional<Time> issued) {
  // Only once: entries are counted per second, and the next one is another visitor's.
  const bool is_entry = issued && !ended_.has_session(id, now);
  if (sessions_.end(id) || (is_entry && provisional_.take(*issued, now))) {
    end_session(id, why, now);
    return true;
  }
  const Slot slot = find(id);
  if (slot == kNoSlot) return false;
  if (!tickets_[slot].is_called()) lane(slot).since.left += 1;
  end_ticket(slot, why, now);
  return true;
}

void WaitingRoom::forget(Slot slot) {
  const Ticket& ticket = tickets_[slot];
  if (ticket.is_called()) count_call(slot, -1);
  deadlines_.clear(slot);
  bring_forward(slot);
  line(slot).remove(member(slot));
  journal_.note(ticket.id);
  tickets_.give_back(slot);
}

void WaitingRoom::end_session(const TicketId& id, Ended why, Time now) {
  ++counts_.sessions_ended[static_cast<std::size_t>(why)];
  if (why != Ended::idle) recovery_.ended(id, now);  // was_inside() checks that itself
  ended_.add(id, {why, now, true});
  users_.release(id);
  if (!hands_out()) lanes_.front().since.ended += 1;
  stock_.take_back(id);
  journal_.note(id);
}

void WaitingRoom::end_ticket(Slot slot, Ended why, Time now) {
  recovery_.ended(tickets_[slot].id, now);
  ended_.add(tickets_[slot].id, {why, now, false});
  users_.release(tickets_[slot].id);
  note_end(slot, why, now);
  stock_.take_back(tickets_[slot].id);
  forget(slot);
  ++counts_.tickets_ended[static_cast<std::size_t>(why)];
}

void WaitingRoom::tick(Time now, const Backend& backend) {
  sessions_.expire(now, terms_, [&](const TicketId& id, Ended why) { end_session(id, why, now); });
  deadlines_.expire(now, [&](Slot slot) { due(slot, now); });
  newcomers_ = backend.newcomers;
  opening_.tick(backend.is_overloaded, room(now) > 0, has_line(), now);
  recovery_.tick(now);
  ended_.tick(now, first_pass_life());
  if (orders_.has_ended) end_some(kEndedAtOnce, now);
  if (calls_nobody() || !has_begun()) {
    for (Lane& lane : lanes_) lane.learned.interrupt(now);
  }
  counts_.entry.is_overloaded = backend.is_overloaded;
  call_some(now, backend);
  learn(now);
}

// A ticket's deadline has passed.
void WaitingRoom::due(Slot slot, Time now) {
  const Ticket& ticket = tickets_[slot];
  if (ticket.is_called()) {
    due_while_called(slot, now);
    return;
  }
  const Time kept_until = ticket.heard + kept_for(ticket);
  const bool has_waited = now >= end_of_own_wait(slot);
  if (has_waited || now >= kept_until) {
    lane(slot).since.left += 1;
    end_ticket(slot, has_waited ? Ended::own_max_wait : Ended::abandoned, now);
    return;
  }
  if (ticket.is_reserved)
    go_away(slot);
  else
    line(slot).set_present(member(slot), false);
  set_deadline(slot, kept_until);
}

void WaitingRoom::due_while_called(Slot slot, Time now) {
  Ticket& ticket = tickets_[slot];
  if (is_held_back(ticket)) {
    withdraw_call(slot, now);
    return;
  }
  if (now < ticket.claim_until) {
    if (ticket.coming == Coming::fresh) lane(slot).learned.did_not_come();
    if (ticket.is_reserved) lane(slot).since.calls -= 1;
    become(slot, ticket.is_reserved ? Coming::away : Coming::lapsed);
    wait_for(slot);
    return;
  }
  if (ticket.coming == Coming::away) lane(slot).learned.away_did_not_come();
  if (++ticket.missed >= terms_.attempts) {
    end_ticket(slot, Ended::not_claimed, now);
  } else {
    send_back(slot);
  }
}

// Back to its own place. It is called again after its next contact, a reserved one as soon as
// possible; if it is away, not before those that have missed fewer calls.
void WaitingRoom::send_back(Slot slot) {
  Ticket& ticket = tickets_[slot];
  count_call(slot, -1);
  ticket.called = Call::none;
  if (ticket.coming != Coming::away) lane(slot).since.calls -= 1;
  stock_.take_back(ticket.id);
  journal_.note(ticket.id);
  if (!ticket.is_reserved) {
    set_deadline(slot, ticket.heard + kept_for(ticket));
    return;
  }
  line(slot).set_present(member(slot), true);
  if (ticket.coming == Coming::away) go_away(slot);
  wait_for(slot);
}

// This does not count as a missed call: its own wait is extended, so that it can be called again.
void WaitingRoom::withdraw_call(Slot slot, Time now) {
  prolong_own_wait(slot, now);
  send_back(slot);
}

void WaitingRoom::call(Slot slot, Time now) {
  Ticket& ticket = tickets_[slot];
  Lane& its = lane(slot);
  if (ticket.told.is_told()) its.learned.learn_outcome(ticket.told, ticket.joined, now);
  ticket.told = {};
  ticket.coming = is_away(slot) ? Coming::away : Coming::fresh;
  bring_forward(slot);
  its.line.call(member(slot), kinds_to_call(lane_number(slot)));
  if (ticket.coming != Coming::away) stock_.give(ticket.id, stock_.wish(slot));
  ticket.called = Call::in_turn;
  ticket.extended = 0;
  count_call(slot, 1);
  ++its.calls;
  const Milliseconds poll = ticket.interval();
  // It learns of the call when it polls next, which may be half an interval late.
  ticket.fresh_until = std::max(ticket.heard + poll, now) + poll / 2 + kComing;
  const Milliseconds claim = ticket.is_reserved ? terms_.reserve.claim : terms_.claim;
  ticket.claim_until = now + std::max(claim, poll + poll / 2);
  ++counts_.called;
  note(Event::called, slot, now);
  if (ticket.coming != Coming::away) its.since.calls += 1;
  wait_for(slot);
}

// As many as are expected to fill the room, but no faster than the pace.
void WaitingRoom::call_some(Time now, const Backend& backend) {
  const double seconds = std::clamp(static_cast<double>((now - last_).count()) / 1000, 0.0, 1.0);
  const double per_second = terms_.active_sessions * backend.pace;
  const double together = std::min(
      {kSecondsTogether * per_second, kCallsTogether, static_cast<double>(terms_.active_sessions)});
  turn_.may_call =
      std::min(turn_.may_call + per_second * seconds, std::max({per_second, together, 1.0}));
  counts_.entry.is_paced = false;
  if (calls_nobody() || orders_.has_ended || !terms_.start.is_over(now)) return;
  const std::size_t free = room(now);
  for (std::size_t steps = kAwayAtOnce;;) {
    double expected = 0;
    for (const Lane& lane : lanes_) {
      // Visitors that have not come yet are less likely to come than all that are called. No
      // session is kept free for absent visitors: when they come they go first.
      const double come = (1 - lane.learned.no_shows()) * (1 - lane.learned.no_shows());
      expected += static_cast<double>(lane.called.at_door) +
                  static_cast<double>(lane.called.fresh) * come +
                  static_cast<double>(lane.called.lapsed) * kLateShare;
    }
    if (expected + 0.5 >= static_cast<double>(free)) return;
    const Slot next = take_turn(free, steps);
    if (next == kNoSlot) return;
    // A visitor that is away does not come at once: may_call_away() limits such calls.
    const double cost = is_away(next) ? 0 : 1;
    if (cost == 0 && steps-- == 0) return;
    if (backend.is_overloaded || backend.pace <= 0 || turn_.may_call < cost) {
      counts_.entry.is_paced = true;
      return;
    }
    turn_.may_call -= cost;
    turn_.lane = (lane_number(next) + 1) % lanes_.size();
    call(next, now);
  }
}

Counts WaitingRoom::counts(Time now) const {
  Counts counts = counts_;
  counts.processing = called().all();
  counts.waiting = in_line() - counts.processing;
  counts.present = 0;
  for (const Lane& lane : lanes_) counts.present += lane.line.present();
  counts.active = sessions_.size();
  counts.provisional = provisional_.count(now);
  counts.entry.is_open = is_open(now);
  counts.entry.last_minute = begins_.last_minute(now);
  double error = 0;
  for (const Lane& lane : lanes_) {
    if (lane.learned.knows_calls())
      counts.entry.per_second =
          counts.entry.per_second.value_or(0) + lane.learned.calls().per_second();
    const Honesty& honesty = lane.learned.honesty();
    const std::uint64_t told = honesty.within() + honesty.outside();
    counts.estimates.within += honesty.within();
    counts.estimates.outside += honesty.outside();
    error += honesty.error() * static_cast<double>(told);
  }
  const std::uint64_t told = counts.estimates.within + counts.estimates.outside;
  counts.estimates.error = told > 0 ? error / static_cast<double>(told) : 0;
  counts.events_lost = ticket_events_.lost();
  for (const Lane& lane : lanes_) {
    lane.line.each([&](Priority priority, const Line& line) {
      counts.tiers[terms_.tiers.number_of(priority)].visitors += line.size();
    });
  }
  if (hands_out()) count_types(counts);
  return counts;
}

}  // namespace spillway::waiting
