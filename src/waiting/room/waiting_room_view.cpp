// A visitor's view of its place, and when it is to poll again.
#include <algorithm>
#include <cmath>

#include "waiting/room/waiting_room.hpp"

namespace spillway::waiting {

namespace {

// While the rate of entry is not known: this many may be called soon.
constexpr std::size_t kNear = 20;
// A rise of the estimate by less is not mentioned.
constexpr Milliseconds kShortRise{30'000};

std::uint32_t in_32_bits(std::size_t number) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(number, UINT32_MAX));
}

}  // namespace

std::uint32_t WaitingRoom::extensions_left(const Ticket& ticket) const {
  if (!ticket.is_called()) return 0;
  return terms_.claim_extensions -
         std::min<std::uint32_t>(ticket.extended, terms_.claim_extensions);
}

WaitingRoom::View WaitingRoom::look(Slot slot) const {
  const Ticket& ticket = tickets_[slot];
  const TieredLine::Ahead ahead = line(slot).ahead(member(slot));
  View view{.state = ticket.is_called() ? TicketState::processing : TicketState::waiting,
            .ahead = ahead.all(),
            .priority = ticket.priority,
            .joined = ticket.joined,
            .claim_until = ticket.claim_until,
            .extensions = extensions_left(ticket),
            .poll = Milliseconds(ticket.poll_ms),
            .steps = ticket.steps,
            .may_reserve = may_reserve(ticket),
            .is_reserved = ticket.is_reserved,
            .allotment = allotment(slot)};
  if (!has_begun()) {
    view.begins = terms_.start.at;
    view.is_drawn_later = terms_.start.draw.has_value();
  }
  if (!ticket.is_called() && !calls_nobody()) {
    if (const auto its = course(slot, ahead)) {
      if (const auto quantiles = wait_quantiles(its->ahead, its->flow))
        view.estimate = widened(*quantiles, lane(slot).learned.honesty().times(its->ahead));
    }
  }
  view.why = why(ticket, ahead, view.estimate);
  return view;
}

// A rise of the position or of the estimate is explained for as long as it lasts.
Why WaitingRoom::why(const Ticket& ticket, const TieredLine::Ahead& ahead,
                     const std::optional<Range>& estimate) const {
  if (ticket.is_called()) return Why::none;
  if (calls_nobody()) return Why::paused;
  if (!has_begun()) return terms_.start.draw ? Why::lot : Why::early;
  if (ahead.all() > ticket.least.ahead)
    return ahead.own.all > ticket.least.own ? Why::returned : Why::higher_tier;
  if (counts_.entry.is_overloaded) return Why::busy;
  return estimate && is_later(ticket, *estimate) ? Why::slower : Why::none;
}

// The range ends later than announced before, by more than a fifth of the rest.
bool WaitingRoom::is_later(const Ticket& ticket, const Range& estimate) {
  if (ticket.least.end == UINT32_MAX) return false;
  const Milliseconds waited = ticket.heard - ticket.joined;
  const Milliseconds told = Milliseconds(std::int64_t{ticket.least.end} * 1000) - waited;
  return estimate.p90 - told > std::max(told / 5, kShortRise);
}

std::optional<Learned::Course> WaitingRoom::course(Slot slot,
                                                   const TieredLine::Ahead& ahead) const {
  const Lane& its = lane(slot);
  if (!its.learned.knows_calls() || !has_begun()) return std::nullopt;
  // For a requirement that only some devices meet, no rate is learned.
  if (hands_out() && !stock_.catalog().is_met_by_all(stock_.wish(slot))) return std::nullopt;
  const auto expected = [&its](const Line::Ahead& all, const Line::Ahead& away) {
    return static_cast<std::size_t>(std::lround(its.expected(all, away)));
  };
  const Priority priority = tickets_[slot].priority;
  return its.learned.course({.tier = terms_.tiers.number_of(priority),
                             .own = expected(ahead.own, ahead.own_away) + overdue(its),
                             .higher = expected(ahead.higher, ahead.higher_away),
                             .share = terms_.tiers.share_of(priority),
                             .lower_shares = its.line.shares_below(priority),
                             .sessions = is_in_use(its) ? sessions_of(its) : 0});
}

// A tenth of the expected wait.
Milliseconds WaitingRoom::poll_of(const TieredLine::Ahead& ahead,
                                  const std::optional<Learned::Course>& course) const {
  const std::size_t present = ahead.own.present + ahead.higher.present;
  const bool is_near = present < std::max<std::size_t>(terms_.active_sessions, kNear);
  Milliseconds poll = is_near ? terms_.shortest_poll : terms_.longest_poll;
  if (course) poll = *expected_wait(course->ahead, course->flow) / 10;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(poll);
  return std::clamp<Milliseconds>(seconds, terms_.shortest_poll, terms_.longest_poll);
}

// A visitor that is called at the start should learn of it soon after, but not all at once.
Milliseconds WaitingRoom::poll_before_start(const TicketId& id, Time now) const {
  const auto left = std::chrono::ceil<std::chrono::seconds>(terms_.start.at - now);
  const Milliseconds after = left + spread_of(id, terms_.longest_poll);
  return std::clamp<Milliseconds>(after, terms_.shortest_poll, terms_.longest_poll);
}

void WaitingRoom::heard(Slot slot, Time now) {
  Ticket& ticket = tickets_[slot];
  if (is_held_back(ticket)) withdraw_call(slot, now);
  ticket.polls.pass(now - ticket.heard, Milliseconds(ticket.poll_ms));
  ticket.heard = now;
  ticket.has_page = false;
  if (ticket.is_called()) {
    ticket.poll_ms = static_cast<std::uint32_t>(terms_.shortest_poll.count());
    if (ticket.coming == Coming::fresh)
      ticket.fresh_until = std::min(ticket.fresh_until, now + kComing);  // it knows of the call now
    wait_for(slot);
    return;
  }
  const TieredLine::Ahead ahead = line(slot).ahead(member(slot));
  const auto its = course(slot, ahead);
  ticket.poll_ms = static_cast<std::uint32_t>(poll_of(ahead, its).count());
  if (has_begun()) {
    ticket.least.ahead = std::min(ticket.least.ahead, in_32_bits(ahead.all()));
    ticket.least.own = std::min(ticket.least.own, in_32_bits(ahead.own.all));
    note_way(slot, in_32_bits(ahead.all()), now);
  } else {
    ticket.poll_ms = static_cast<std::uint32_t>(poll_before_start(ticket.id, now).count());
  }
  if (its && !calls_nobody()) note_told(slot, *its, now);
  bring_forward(slot);
  line(slot).set_present(member(slot), true);
  line(slot).set_away(member(slot), false);
  wait_for(slot);
}

// Records the wait that is announced to it now.
void WaitingRoom::note_told(Slot slot, const Learned::Course& course, Time now) {
  const auto quantiles = wait_quantiles(course.ahead, course.flow);
  if (!quantiles) return;
  Ticket& ticket = tickets_[slot];
  const double times = lane(slot).learned.honesty().times(course.ahead);
  const Milliseconds waited = now - ticket.joined;
  const Milliseconds end = waited + widened(*quantiles, times).p90;
  ticket.least.end =
      std::min(ticket.least.end, in_32_bits(static_cast<std::size_t>(end.count() / 1000)));
  if (!ticket.told.is_told() && ticket.missed == 0)
    ticket.told.tell(*quantiles, times, course.ahead, waited);
}

std::optional<WaitingRoom::View> WaitingRoom::ask(const TicketId& id, Time now) {
  std::optional<View> view = hear(id, now);
  if (const Slot slot = find(id); view && slot != kNoSlot)
    view->asks_too_often = !tickets_[slot].polls.take();
  return view;
}

std::optional<End> WaitingRoom::end_of(const TicketId& id, Time now) const {
  if (sessions_.has(id)) return std::nullopt;
  if (find(id) == kNoSlot) return ended_.find(id, now);
  if (!orders_.has_ended) return std::nullopt;
  return End{.why = Ended::room_ended, .at = now};  // within some ticks
}

// Sets the ticket's next deadline.
void WaitingRoom::wait_for(Slot slot) {
  const Ticket& ticket = tickets_[slot];
  const Milliseconds poll = ticket.interval();
  const Time present_until = ticket.heard + poll + poll / 2 + poll;
  const Time kept_until = ticket.heard + kept_for(ticket);
  if (ticket.is_called()) {
    const bool is_late = ticket.coming == Coming::lapsed || ticket.coming == Coming::away;
    deadlines_.set(slot,
                   is_late ? ticket.claim_until : std::min(ticket.fresh_until, ticket.claim_until));
  } else if (is_away(slot)) {
    set_deadline(slot, kept_until);
  } else {
    set_deadline(slot, std::min(present_until, kept_until));
  }
}

}  // namespace spillway::waiting
