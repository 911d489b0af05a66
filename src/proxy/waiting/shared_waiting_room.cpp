#include "proxy/waiting/shared_waiting_room.hpp"

#include "proxy/waiting/session_look.hpp"

namespace spillway::proxy {

using waiting::WaitingRoom;

namespace {

std::shared_ptr<SharedWaitingRoom> find_waiting_room(const WaitingRooms* former,
                                                     std::string_view name) {
  if (former == nullptr) return nullptr;
  for (const auto& room : *former) {
    if (room && room->name() == name) return room;
  }
  return nullptr;
}

// Whether per_user limits the visitor, which it does for verified users.
bool is_bounded(const WaitingRoom& room, const waiting::Token& stamp) {
  return !stamp.user.is_nobody() && room.terms().per_user > 0;
}

}  // namespace

waiting::Terms SharedWaitingRoom::terms_of(const config::WaitingRoom& settings) const {
  waiting::Terms terms = waiting::terms_of(settings);
  if (terms.start.draw) terms.start.draw = context_->keys->draw_key(name_, terms.start.at);
  return terms;
}

Milliseconds SharedWaitingRoom::refuse_poll(Milliseconds later) {
  tally_.count_limited_poll();
  return later;
}

SharedWaitingRoom::Asked SharedWaitingRoom::find(const waiting::Token& ticket, TimePoint now,
                                                 Lookup lookup) {
  return with(now, [&](WaitingRoom& room, waiting::Time time) {
    room.recover(ticket.id, ticket.time, time, ticket.priority, ticket.user, ticket.wish);
    Asked found{.view = (room.*lookup)(ticket.id, time), .end = {}, .later = {}};
    if (!found.view) found.end = room.end_of(ticket.id, time);
    return found;
  });
}

SharedWaitingRoom::Asked SharedWaitingRoom::look(const waiting::Token& ticket, TimePoint now,
                                                 bool counts) {
  const Asked seen = with(now, [&](WaitingRoom& room, waiting::Time time) {
    Asked found{.view = room.peek(ticket.id), .end = {}, .later = {}};
    if (!found.view) found.end = room.end_of(ticket.id, time);
    if (found.view && counts) found.view->asks_too_often = !room.take_poll(ticket.id);
    return found;
  });
  if (seen.view && !seen.view->asks_too_often) hear_of(ticket.id, now);
  return seen;
}

SharedWaitingRoom::Asked SharedWaitingRoom::hear(const waiting::Token& ticket, TimePoint now) {
  return is_shared() ? look(ticket, now, false) : find(ticket, now, &WaitingRoom::hear);
}

SharedWaitingRoom::Asked SharedWaitingRoom::ask(const waiting::Token& ticket, TimePoint now) {
  if (const auto later = holds_.held(ticket.id, time_at(now)))
    return {.view = {}, .end = {}, .later = refuse_poll(*later)};
  const Asked asked = is_shared() ? look(ticket, now, true) : find(ticket, now, &WaitingRoom::ask);
  if (!asked.view || !asked.view->asks_too_often) return asked;
  holds_.hold(ticket.id, time_at(now) + asked.view->poll);
  return {.view = {}, .end = {}, .later = refuse_poll(asked.view->poll)};
}

bool SharedWaitingRoom::may_join(const IpAddress& client, const config::WaitingRoom& settings,
                                 TimePoint now) {
  if (joins_.take(client, settings.tickets.joins_per_second, now)) return true;
  tally_.count_limited_join();
  return false;
}

bool SharedWaitingRoom::may_have_more(const IpAddress& client, const waiting::Token& stamp,
                                      const config::WaitingRoom& settings, TimePoint now) {
  const bool may = with(now, [&](WaitingRoom& room, waiting::Time time) {
    if (is_bounded(room, stamp) || !room.has_to_wait(time) || room.has_session(stamp.id))
      return true;
    const waiting::Catalog& catalog = room.stock().catalog();
    const bool is_known = stamp.wish && room.hands_out() &&
                          stamp.wish->fingerprint == catalog.fingerprint() &&
                          stamp.wish->wish.type < catalog.types().size();
    const waiting::Wish* const wish = is_known ? &stamp.wish->wish : nullptr;
    const waiting::Space space = room.space(stamp.priority, wish);
    // A full line refuses a second contact anyway, but not a first pass that came late.
    if (space.free() <= 0 && stamp.kind != waiting::TokenKind::pass) return true;
    return shares_.may_have_more(client, room.tickets(), space, settings.tickets.network_share) ||
           room.peek(stamp.id).has_value();
  });
  if (!may) tally_.count_limited_join();
  return may;
}

bool SharedWaitingRoom::may_enter_at_once(const IpAddress& client,
                                          const config::WaitingRoom& settings, TimePoint now) {
  if (settings.tickets.network_share >= 1 || !says_who(client)) return true;
  // Together with the entries refilled during the slice for which they count, this is the share.
  const double at_once =
      std::max(NetworkShares::kFew, settings.tickets.network_share * settings.sessions.most / 2);
  const IpAddress network = place_network(client);
  const std::string_view bytes(reinterpret_cast<const char*>(network.bytes.data()),
                               network.bytes.size());
  return entries_.of(bytes).try_take(at_once / waiting::Provisional::kSeconds, at_once, now);
}

void SharedWaitingRoom::has_joined(const IpAddress& client, const waiting::Token& stamp,
                                   TimePoint now) {
  with(now, [&](WaitingRoom& room, waiting::Time) {
    const std::size_t before = std::max<std::size_t>(room.tickets(), 1) - 1;
    if (is_bounded(room, stamp))
      shares_.add_to_none(before);
    else
      shares_.add(client, before);
  });
}

bool SharedWaitingRoom::may_write(const IpAddress& client, const config::WaitingRoom& settings,
                                  TimePoint now) {
  if (rows_.take(client, settings.tickets.joins_per_second, now)) return true;
  tally_.count_limited_join();
  return false;
}

bool SharedWaitingRoom::may_go_first(const waiting::TicketId& id, waiting::Carrier carrier,
                                     const config::WaitingRoom& settings, TimePoint now) {
  const bool is_in_field = carrier == waiting::Carrier::field;
  const double per_second = is_in_field ? 5 : 20;
  const double at_once = is_in_field ? 100 : 400;
  // The number of sessions that share a bucket.
  const double together =
      std::max(1.0, static_cast<double>(settings.sessions.most) / HashedBuckets::kPlaces);
  const std::string_view bytes(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
  return context_->passes.of(bytes).try_take(per_second * together, at_once * together, now);
}

bool SharedWaitingRoom::stay(const waiting::TicketId& id, TimePoint now) {
  if (is_shared()) log_.outbox->stay(id);
  const std::lock_guard lock(mutex_);
  const waiting::Time time = advance(now);
  if (!is_shared() || log_.apart) now_in_force().stay(id, time);
  return now_in_force().hands_out() && !goes_on(now_in_force(), id, time);
}

bool SharedWaitingRoom::begin_session(const waiting::Token& first_pass, TimePoint now) {
  const waiting::ShowPass show{{first_pass}};
  const bool is_settled = with(now, [&](WaitingRoom& room, waiting::Time time) {
    const bool counts = time - first_pass.time <= waiting::kSlice;
    return !counts || room.has_session(first_pass.id) ||
           !room.may_be_inside(first_pass.id, 0, first_pass.time, time);
  });
  if (is_settled) return true;
  if (!is_shared()) {
    perform(show, now);
    return true;
  }
  const bool is_taken = log_.outbox->submit(std::make_shared<RoomCall>(show, [] {}));
  if (!is_taken) perform_apart(show, now);
  return false;
}

// A ticket is only kept once its session has lasted for a slice: until then it is claimed again,
// since its visitor may not have got the first pass, or the entry may still fail.
bool SharedWaitingRoom::keeps(const waiting::Token& token, TimePoint now) {
  if (token.carrier != waiting::Carrier::field || token.kind == waiting::TokenKind::stamp)
    return false;
  const bool is_ticket = token.kind == waiting::TokenKind::ticket;
  const bool is_inside = with(now, [&](WaitingRoom& room, waiting::Time time) {
    if (!goes_on(room, token.id, time)) return false;
    if (!is_ticket) return true;
    const auto report = room.inspect(token.id, time);
    return report && time - report->view.joined > waiting::kSlice;
  });
  return is_inside && !stay(token.id, now);
}

void SharedWaitingRoom::tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health,
                             TimePoint now) {
  const waiting::Terms terms = terms_of(settings);
  const std::lock_guard lock(mutex_);
  const waiting::Time time = advance(now);
  if (terms != given_) {
    given_ = terms;
    if (is_shared())
      log_.outbox->agree(terms);
    else
      inside_.own().set_terms(terms, time);
    pace_.set_active_sessions(terms.active_sessions);
  }
  inside_.own().want_events(waiting::wanted_events(settings));
  health.is_needed = now_in_force().counts(time).entry.is_paced;
  const bool is_to_hold = settings.on_store_failure == config::OnStoreFailure::hold;
  waiting::Backend backend{.is_overloaded = health.state >= State::overloaded,
                           .pace = pace_.tick(time, health)};
  if (is_shared()) {
    log_.backend = backend;
    log_.is_to_hold = is_to_hold;
    hold_if_cut_off();
    if (log_.is_cut_off && !is_to_hold && !log_.apart) go_apart(time);
    // A reload may make it hold from now on: it keeps its state since it was cut off.
    if (is_to_hold) backend.newcomers = waiting::Newcomers::held;
    if (log_.apart) log_.apart->tick(time, backend);
    return;
  }
  const bool fails = context_->keeping.load(std::memory_order_relaxed) == PlaceKeeping::fails;
  if (is_to_hold && fails) backend.newcomers = waiting::Newcomers::held;
  inside_.own().tick(time, backend);
}

void SharedWaitingRoom::restore(const waiting::Written& written, TimePoint now) {
  const std::lock_guard lock(mutex_);
  WaitingRoom& room = inside_.own();
  waiting::Terms terms = room.terms();
  if (terms.start.draw) {  // the keys are now those of the former process
    terms.start.draw = context_->keys->draw_key(name_, terms.start.at);
    room.set_terms(terms, advance(now));
  }
  room.restore(written, advance(now));
  room.keep_journal();
}

waiting::Counts SharedWaitingRoom::counts(TimePoint now) {
  const std::lock_guard lock(mutex_);
  return now_in_force().counts(advance(now));
}

observe::WaitingRoomSnapshot snapshot_of(SharedWaitingRoom& room,
                                         const config::WaitingRoom& settings) {
  observe::WaitingRoomSnapshot snapshot{.name = room.name(), .counts = room.counts(Clock::now())};
  room.tally().write_to(snapshot);
  for (const std::string_view name : waiting::tier_names(settings))
    snapshot.tiers.emplace_back(name);
  return snapshot;
}

WaitingRooms waiting_rooms_of(const config::Config& config,
                              const std::shared_ptr<VisitorContext>& context,
                              const WaitingRooms* former) {
  WaitingRooms rooms;
  for (const config::Route& route : config.routes) {
    std::shared_ptr<SharedWaitingRoom> room;
    if (route.waiting_room) {
      room = find_waiting_room(former, route.name);
      if (!room)
        room = std::make_shared<SharedWaitingRoom>(route.name, *route.waiting_room, context);
    }
    rooms.push_back(std::move(room));
  }
  return rooms;
}

}  // namespace spillway::proxy
