#include "proxy/waiting/shared_waiting_room.hpp"

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

}  // namespace

waiting::Terms SharedWaitingRoom::terms_of(const config::WaitingRoom& settings) const {
  waiting::Terms terms = waiting::terms_of(settings);
  if (terms.start.draw) terms.start.draw = context_->keys.draw_key(name_, terms.start.at);
  return terms;
}

Milliseconds SharedWaitingRoom::refuse_poll(Milliseconds later) {
  limited_polls_.fetch_add(1, std::memory_order_relaxed);
  return later;
}

SharedWaitingRoom::Asked SharedWaitingRoom::find(const waiting::Token& ticket, TimePoint now,
                                                 Lookup lookup) {
  return with(now, [&](WaitingRoom& room, waiting::Time time) {
    room.recover(ticket.id, ticket.time, time, ticket.priority, ticket.user);
    Asked found{.view = (room.*lookup)(ticket.id, time), .end = {}, .later = {}};
    if (!found.view) found.end = room.end_of(ticket.id, time);
    return found;
  });
}

SharedWaitingRoom::Asked SharedWaitingRoom::ask(const waiting::Token& ticket, TimePoint now) {
  if (const auto later = holds_.held(ticket.id, time_at(now)))
    return {.view = {}, .end = {}, .later = refuse_poll(*later)};
  const Asked asked = find(ticket, now, &WaitingRoom::ask);
  if (!asked.view || !asked.view->asks_too_often) return asked;
  holds_.hold(ticket.id, time_at(now) + asked.view->poll);
  return {.view = {}, .end = {}, .later = refuse_poll(asked.view->poll)};
}

std::optional<WaitingRoom::Contact> SharedWaitingRoom::join(const waiting::Token& stamp,
                                                            const IpAddress& client,
                                                            const config::WaitingRoom& settings,
                                                            TimePoint now) {
  if (!joins_.take(client, settings.tickets.joins_per_second, now)) {
    limited_joins_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  const WaitingRoom::Contact contact = with(now, [&](WaitingRoom& room, waiting::Time time) {
    return room.join(stamp.id, stamp.time, time, stamp.priority, stamp.user);
  });
  if (!contact.has_joined) joins_.give_back(client, settings.tickets.joins_per_second);
  return contact;
}

SharedWaitingRoom::Unverified SharedWaitingRoom::unverified() const {
  Unverified counts{};
  for (std::size_t source = 0; source < counts.size(); ++source)
    std::ranges::copy(unverified_[source], counts[source].begin());
  return counts;
}

void SharedWaitingRoom::tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health,
                             TimePoint now) {
  const waiting::Terms terms = terms_of(settings);
  const std::lock_guard lock(mutex_);
  const waiting::Time time = advance(now);
  if (terms != given_) {
    given_ = terms;
    room_.set_terms(terms, time);
    pace_.set_active_sessions(terms.active_sessions);
  }
  room_.want_events(waiting::wanted_events(settings));
  health.is_needed = room_.counts(time).entry.is_paced;
  double pace = pace_.tick(time, health);
  const bool is_held = settings.on_store_failure == config::OnStoreFailure::hold &&
                       context_->keeping.load(std::memory_order_relaxed) == PlaceKeeping::fails;
  if (is_held) pace = 0;
  room_.tick(time, {.is_overloaded = health.state >= State::overloaded, .pace = pace});
}

void SharedWaitingRoom::restore(const waiting::Written& written, TimePoint now) {
  const std::lock_guard lock(mutex_);
  waiting::Terms terms = room_.terms();
  if (terms.start.draw) {  // the keys are now those of the former process
    terms.start.draw = context_->keys.draw_key(name_, terms.start.at);
    room_.set_terms(terms, advance(now));
  }
  room_.restore(written, advance(now));
  room_.keep_journal();
}

waiting::Counts SharedWaitingRoom::counts(TimePoint now) {
  const std::lock_guard lock(mutex_);
  return room_.counts(advance(now));
}

observe::WaitingRoomSnapshot snapshot_of(SharedWaitingRoom& room,
                                         const config::WaitingRoom& settings) {
  observe::WaitingRoomSnapshot snapshot{
      .name = room.name(), .counts = room.counts(Clock::now()), .bypassed = room.bypassed()};
  snapshot.limited_polls = room.limited_polls();
  snapshot.limited_joins = room.limited_joins();
  snapshot.offered = room.offered();
  snapshot.unverified = room.unverified();
  for (const std::string_view name : waiting::tier_names(settings))
    snapshot.tiers.emplace_back(name);
  for (std::size_t n = 0; n < waiting::kEventCount; ++n) snapshot.events[n] = room.told(n);
  snapshot.events_not_written = room.not_told();
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
