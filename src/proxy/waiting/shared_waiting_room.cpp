#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

namespace {

std::shared_ptr<SharedWaitingRoom> find_waiting_room(const WaitingRooms* former,
                                                     std::string_view name) {
  if (former == nullptr) return nullptr;
  for (const auto& room : *former) {
    if (room && room->name() == name) return room;
  }
  return nullptr;
}

waiting::When when_of(config::WaitingWhen when) {
  switch (when) {
    case config::WaitingWhen::full: break;
    case config::WaitingWhen::always: return waiting::When::always;
    case config::WaitingWhen::overloaded: return waiting::When::overloaded;
  }
  return waiting::When::full;
}

}  // namespace

waiting::Terms terms_of(const config::WaitingRoom& settings) {
  return {.active_sessions = settings.active_sessions,
          .per_minute = settings.per_minute.value_or(0),
          .session_ttl = settings.session_ttl,
          .idle = settings.idle,
          .claim = settings.claim,
          .abandon = settings.abandon,
          .max_wait = settings.max_wait,
          .shortest_poll = settings.poll.min,
          .longest_poll = settings.poll.max,
          .max_tickets = settings.max_tickets,
          .attempts = settings.attempts,
          .when = when_of(settings.when)};
}

void SharedWaitingRoom::tick(const config::WaitingRoom& settings, waiting::EntryPace::Health health,
                             TimePoint now) {
  const waiting::Terms terms = terms_of(settings);
  const std::lock_guard lock(mutex_);
  const waiting::Time time = advance(now);
  if (terms != room_.terms()) {
    room_.set_terms(terms, time);
    pace_.set_active_sessions(terms.active_sessions);
  }
  health.is_needed = room_.counts(time).is_paced;
  const double pace = pace_.tick(time, health);
  room_.tick(time, {.is_overloaded = health.state >= State::overloaded, .pace = pace});
}

waiting::Counts SharedWaitingRoom::counts(TimePoint now) {
  const std::lock_guard lock(mutex_);
  return room_.counts(advance(now));
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
