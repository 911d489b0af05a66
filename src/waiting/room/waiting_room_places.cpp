// The part of a waiting room that survives the process: see place.hpp.
#include <algorithm>

#include "waiting/place/by_tie.hpp"
#include "waiting/room/waiting_room.hpp"
#include "waiting/token/token.hpp"

namespace spillway::waiting {

namespace {

constexpr std::size_t kListed = 1024;

// Time without a process does not count, since no session could be used.
Time last_use(const Place& place, Time used_until, Time now) {
  if (place.used == Time{}) return now;
  return now - std::max(used_until - place.used, Milliseconds(0));
}

}  // namespace

Place WaitingRoom::place_of(const TicketId& id, Time now) const {
  if (auto session = sessions_.place_of(id)) {
    session->user = users_.of(id);
    return with_allotment(*std::move(session));
  }
  const Slot slot = find(id);
  if (slot != kNoSlot) return place_of_ticket(slot);
  const bool has_left = ended_.has_session(id, now);
  return {.id = id, .kind = has_left ? Place::Kind::left : Place::Kind::ended, .since = now};
}

Place WaitingRoom::place_of_ticket(Slot slot) const {
  const Ticket& ticket = tickets_[slot];
  Place place{.id = ticket.id,
              .kind = Place::Kind::ticket,
              .since = ticket.joined,
              .missed = ticket.missed,
              .priority = ticket.priority,
              .user = users_.of(ticket.id),
              .is_reserved = ticket.is_reserved};
  const Line& tier = line(slot).of(ticket.priority);
  const Order order = tier.order(slot);
  place.tie = static_cast<std::uint32_t>(tier.ahead(slot).all - tier.before(order));
  if (order != terms_.start.order_of(ticket.joined, ticket.id)) place.order = order;
  return with_allotment(std::move(place));
}

void WaitingRoom::keep_journal() {
  journal_.keep();
  sessions_.keep_uses();
}

std::optional<std::vector<TicketId>> WaitingRoom::take_changed(bool with_uses) {
  if (with_uses) {
    for (const TicketId& id : sessions_.take_used()) journal_.note(id);
  }
  Journal::Taken taken = journal_.take();
  if (!taken.is_complete) return std::nullopt;
  return std::move(taken.changed);
}

void WaitingRoom::look_up(std::span<const TicketId> ids, Time now,
                          std::vector<Place>& places) const {
  for (const TicketId& id : ids) places.push_back(place_of(id, now));
}

bool WaitingRoom::list(Listing& at, std::vector<Place>& places) const {
  if (at.ticket == tickets_.end()) {
    const std::size_t first = places.size();
    at.session = sessions_.list(at.session, kListed, places);
    for (Place& place : std::span(places).subspan(first)) {
      place.user = users_.of(place.id);
      place = with_allotment(std::move(place));
    }
    return at.session < sessions_.end_slot();
  }
  const auto last = static_cast<Slot>(std::min<std::size_t>(at.ticket + kListed, tickets_.end()));
  for (; at.ticket < last; ++at.ticket) {
    if (find(tickets_[at.ticket].id) == at.ticket) places.push_back(place_of_ticket(at.ticket));
  }
  return true;
}

void WaitingRoom::restore(const Written& written, Time now) {
  // A stamp becomes a ticket within its life, and its time decides the place.
  if (written.until != Time{}) recovery_.begin(written.until - kStampLife, written.until, now);
  std::vector<Time> begun;
  for (const Place* const each : by_tie(written.places)) {
    const Place& place = *each;
    if (sessions_.has(place.id) || find(place.id) != kNoSlot) continue;
    const std::optional<Wish> wish = wish_of(place);
    if (place.is_here()) users_.hold(place.user, place.id);
    switch (place.kind) {
      case Place::Kind::ended: recovery_.ended(place.id, now); break;
      case Place::Kind::left:
        recovery_.ended(place.id, now);
        begun.push_back(std::min(place.since, now));
        break;
      case Place::Kind::session:
        if (restore_session(place, last_use(place, written.used_until, now), now))
          begun.push_back(std::min(place.since, now));
        else
          users_.release(place.id);
        break;
      case Place::Kind::ticket: {
        const Slot slot =
            insert(place.id, std::min(place.since, now), place.priority, wish.value_or(Wish{}));
        if (place.order) stand(slot, *place.order);
        Ticket& ticket = tickets_[slot];
        ticket.missed = static_cast<std::uint8_t>(std::min(place.missed, 255U));
        ticket.is_reserved = place.is_reserved && terms_.reserve.is_on();
        ticket.heard = now;
        ticket.poll_ms = static_cast<std::uint32_t>(terms_.longest_poll.count());
        line(slot).set_present(member(slot), true);
        if (ticket.is_reserved) go_away(slot);
        wait_for(slot);
        if (!wish) end_ticket(slot, Ended::no_resource, now);
        break;
      }
    }
  }
  orders_ = written.orders;
  std::sort(begun.begin(), begun.end());
  for (const Time time : begun) begins_.add(time);
  last_ = now;
}

void WaitingRoom::recover(const TicketId& id, Time time, Time now, Priority priority,
                          const UserKey& user, const std::optional<CarriedWish>& wish) {
  if (!may_recover(id, time, now)) return;
  if (sessions_.has(id) || find(id) != kNoSlot) return;
  if (tickets_.size() >= terms_.max_tickets) return;
  Wish its;
  if (hands_out()) {
    const Catalog& catalog = stock_.catalog();
    const bool has_names = wish && wish->fingerprint == catalog.fingerprint() &&
                           wish->wish.type < catalog.types().size();
    if (!has_names) return;
    const auto known = catalog.understand_again(catalog.say(wish->wish));
    if (!known) return;
    its = *known;
  }
  heard(insert(id, std::min(time, now), priority, its), now);
  users_.hold(user, id);
}

// Adds the requirement of a ticket, or the resource of a session.
Place WaitingRoom::with_allotment(Place place) const {
  if (place.kind == Place::Kind::ticket && hands_out())
    place.ask = to_text(stock_.catalog().say(stock_.wish(find(place.id))));
  if (place.kind != Place::Kind::session) return place;
  const Device* const device = stock_.of(place.id);
  if (device == nullptr) return place;
  place.resource = device->name;
  Ask ask{.type = device->type, .sizes = {}, .duration = Milliseconds(device->wish.duration_ms)};
  if (hands_out() && device->group != Device::kGone) ask = stock_.catalog().say(device->wish);
  place.ask = to_text(ask);
  return place;
}

// nullopt: no existing resource could ever meet the requirement.
std::optional<Wish> WaitingRoom::wish_of(const Place& place) const {
  if (!hands_out()) return Wish{};
  const std::optional<Ask> ask = parse_ask(place.ask);
  return ask ? stock_.catalog().understand_again(*ask) : std::nullopt;
}

// false: another session has its device, so this one is over.
bool WaitingRoom::restore_session(const Place& place, Time used, Time now) {
  Milliseconds most{0};
  if (!place.resource.empty()) {
    const Ask ask = parse_ask(place.ask).value_or(Ask{});
    Wish wish = wish_of(place).value_or(Wish{});
    most = ask.duration;
    wish.duration_ms = static_cast<std::uint32_t>(most.count());
    if (!stock_.give_again(place.id, place.resource, wish)) return false;
  }
  sessions_.restore(place.id, place.since, used, now, terms_, most);
  return true;
}

}  // namespace spillway::waiting
