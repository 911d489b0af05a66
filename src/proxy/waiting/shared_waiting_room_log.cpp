// The part of SharedWaitingRoom for several proxies: answers without the log, and the log's
// changes.
#include <algorithm>
#include <utility>

#include "proxy/waiting/session_look.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

using waiting::WaitingRoom;

namespace {

// A row that is not read yet may have made a ticket this long after the time in the ticket, and a
// session this long after the time in a pass of it: a proxy's clock may be behind.
constexpr Milliseconds kTicketIsMade = waiting::kStampLife + Milliseconds(10'000);
constexpr Milliseconds kSessionIsMade{2'000};

// `known`: the time of the last row that was read.
bool nothing_comes_of(const waiting::Token& token, const WaitingRoom& room, waiting::Time known,
                      waiting::Time now) {
  if (room.peek(token.id)) return false;
  const bool has_ended = room.end_of(token.id, now).has_value();
  const Milliseconds age = known - token.time;
  switch (token.kind) {
    case waiting::TokenKind::stamp:
    case waiting::TokenKind::offer: return true;
    case waiting::TokenKind::ticket: {
      // Its time may be that of a first pass that came late.
      const Milliseconds is_made = kTicketIsMade + room.first_pass_life();
      return !room.may_recover(token.id, token.time, now) && (has_ended || age > is_made);
    }
    case waiting::TokenKind::pass: break;
  }
  // While no visitor has to wait, a session may begin again.
  return room.has_to_wait(now) && (has_ended || age > kSessionIsMade) &&
         !room.may_be_inside(token.id, token.generation, token.time, now);
}

// Places that are here, and those given up meanwhile, or the others would still count them. An
// expired one may go on at another proxy, where its visitor has gone. An end in `before`, the last
// state of the log, is known to all, and its visitor may have begun again elsewhere.
bool is_to_be_told(waiting::Place& place, const WaitingRoom& room, const WaitingRoom& before,
                   waiting::Time now) {
  if (place.is_here()) return true;
  const auto end = room.end_of(place.id, now);
  if (!end || is_expiry(end->why) || end == before.end_of(place.id, now)) return false;
  place.kind = end->was_session ? waiting::Place::Kind::left : waiting::Place::Kind::ended;
  place.why = end->why;
  return true;
}

}  // namespace

void SharedWaitingRoom::share(std::unique_ptr<RoomOutbox> outbox) {
  const std::lock_guard lock(mutex_);
  // The keys are now those of all proxies.
  if (given_.start.draw) given_.start.draw = context_->keys->draw_key(name_, given_.start.at);
  inside_ = waiting::Replica();
  log_.outbox = std::move(outbox);
}

WaitingRoom::Door SharedWaitingRoom::look_at_door(const waiting::Arrive& arrival, TimePoint now) {
  const WaitingRoom::Door door = with(now, [&](WaitingRoom& room, waiting::Time time) {
    return room.look_at_door(time, arrival.priority, arrival.user, arrival.wants_ticket);
  });
  turned(door, now);
  return door;
}

std::optional<WaitingRoom::Contact> SharedWaitingRoom::look_at_offer(const waiting::Token& stamp,
                                                                     TimePoint now) {
  if (const auto view = look_at_place(stamp.id, now))
    return WaitingRoom::Contact{.door = WaitingRoom::Door::wait, .view = view};
  const auto door = with(now, [&](WaitingRoom& room, waiting::Time time) {
    return room.peek(stamp.id) ? WaitingRoom::Door::enter
                               : room.look_at_door(time, stamp.priority, stamp.user, false);
  });
  if (door == WaitingRoom::Door::enter) return std::nullopt;
  if (door != WaitingRoom::Door::wait) turned(door, now);
  return WaitingRoom::Contact{.door = door};
}

bool SharedWaitingRoom::is_spent(const waiting::Token& token, TimePoint now) {
  return with(now, [&](WaitingRoom& room, waiting::Time time) {
    return nothing_comes_of(token, room, inside_.time(), time);
  });
}

bool SharedWaitingRoom::takes_ticket(const waiting::Token& pass, TimePoint now) {
  return pass.generation == 0 && with(now, [&](WaitingRoom& room, waiting::Time time) {
           return room.takes_ticket(pass.id, pass.time, time);
         });
}

bool SharedWaitingRoom::is_called(const waiting::TicketId& id, TimePoint now) {
  const auto view = with(now, [&](WaitingRoom& room, waiting::Time) { return room.peek(id); });
  return view && view->state == waiting::TicketState::processing;
}

std::optional<WaitingRoom::View> SharedWaitingRoom::look_at_place(const waiting::TicketId& id,
                                                                  TimePoint now) {
  const auto view = with(now, [&](WaitingRoom& room, waiting::Time) { return room.peek(id); });
  if (!view || view->state == waiting::TicketState::fulfilled) return std::nullopt;
  hear_of(id, now);
  return view;
}

std::optional<WaitingRoom::View> SharedWaitingRoom::look_at_ticket(const waiting::TicketId& id,
                                                                   TimePoint now) {
  const auto view = with(now, [&](WaitingRoom& room, waiting::Time) { return room.peek(id); });
  if (!view || view->state != waiting::TicketState::waiting) return std::nullopt;
  hear_of(id, now);
  return view;
}

std::optional<WaitingRoom::View> SharedWaitingRoom::last_seen(const waiting::TicketId& id,
                                                              TimePoint now) {
  hear_of(id, now);
  return with(now, [&](WaitingRoom& room, waiting::Time) { return room.peek(id); });
}

// A pass that was valid when the log stopped stays valid, unless its session has ended since.
bool SharedWaitingRoom::honours(const waiting::Token& pass, TimePoint now) {
  const waiting::Time cut_off{Milliseconds(context_->cut_off_since.load())};
  stay(pass.id, now);
  return with(now, [&](WaitingRoom& room, waiting::Time time) {
    if (room.end_of(pass.id, time)) return false;
    if (room.hands_out()) return goes_on(room, pass.id, time);
    const auto view = room.peek(pass.id);
    if (view && view->state == waiting::TicketState::fulfilled) return true;
    const waiting::Time until = cut_off == waiting::Time{} ? time : std::min(time, cut_off);
    return until - pass.time <= waiting::kSlice;
  });
}

std::vector<waiting::Outcome> SharedWaitingRoom::apply(const waiting::LogEntry& entry,
                                                       waiting::Time time, bool is_own) {
  const std::lock_guard lock(mutex_);
  inside_.own().admit_newcomers();
  inside_.own().note_events(is_own);
  return inside_.apply(entry, time);
}

bool SharedWaitingRoom::restore_log(std::string_view archive, TimePoint now) {
  waiting::Replica read;
  if (!archive.empty() && !read.restore(archive)) return false;
  const std::lock_guard lock(mutex_);
  inside_ = std::move(read);
  advance(now);
  return true;
}

void SharedWaitingRoom::agree(bool has_just_come) {
  const std::lock_guard lock(mutex_);
  const auto& agreed = inside_.terms();
  if (!agreed || (has_just_come && *agreed != given_)) log_.outbox->agree(given_);
}

SharedWaitingRoom::Sight SharedWaitingRoom::sight(TimePoint now) {
  const std::lock_guard lock(mutex_);
  const waiting::Counts counts = inside_.room().counts(advance(now));
  const std::size_t here = counts.waiting + counts.processing + counts.active + counts.provisional;
  return {.time = inside_.time(),
          .backend = log_.backend,
          .is_empty = here == 0,
          .proxies = inside_.proxies()};
}

void SharedWaitingRoom::hear_of(const waiting::TicketId& id, TimePoint now) {
  log_.outbox->hear(id);
  const std::lock_guard lock(mutex_);
  if (log_.apart) log_.apart->hear(id, advance(now));
}

void SharedWaitingRoom::turned(WaitingRoom::Door door, TimePoint now) {
  log_.outbox->count(door);
  const std::lock_guard lock(mutex_);
  const bool has_stamped = door == WaitingRoom::Door::wait;
  if (log_.apart)
    log_.apart->count({.has_stamped = has_stamped, .full = 0, .taken = 0}, advance(now));
}

void SharedWaitingRoom::cut_off() {
  const std::lock_guard lock(mutex_);
  log_.is_cut_off = true;
  hold_if_cut_off();
}

// While cut off, the proxy does not know whether there is room: every request without a session has
// to wait, even one that is no visit. Rows are not applied under this hold, since replicas would
// diverge.
void SharedWaitingRoom::hold_if_cut_off() {
  if (log_.is_cut_off && log_.is_to_hold)
    inside_.own().hold_newcomers();
  else
    inside_.own().admit_newcomers();
}

// Each proxy present gets an equal part of the free sessions: together they let in no more.
void SharedWaitingRoom::go_apart(waiting::Time now) {
  waiting::Replica copy;
  if (!copy.restore(inside_.archive())) return;
  waiting::Terms terms = inside_.terms() ? inside_.room().terms() : given_;
  const waiting::Counts counts = inside_.room().counts(now);
  const auto proxies = static_cast<std::uint32_t>(std::max<std::size_t>(inside_.proxies(), 1));
  const auto taken = static_cast<std::uint32_t>(counts.active + counts.provisional);
  const std::uint32_t free = terms.active_sessions > taken ? terms.active_sessions - taken : 0;
  terms.active_sessions = std::max(taken + free / proxies, 1U);
  if (terms.per_minute > 0) terms.per_minute = std::max(terms.per_minute / proxies, 1U);
  log_.apart = std::move(copy.own());
  log_.apart->pardon(now);
  log_.apart->set_terms(terms, now);
  log_.apart->keep_journal();
  // A device is for one visitor: none is given out that another proxy may give out, too.
  if (log_.apart->hands_out()) log_.apart->stop_calls();
}

std::vector<waiting::Place> SharedWaitingRoom::come_back(const std::vector<waiting::TicketId>& ids,
                                                         TimePoint now) {
  const std::lock_guard lock(mutex_);
  const waiting::Time time = advance(now);
  const WaitingRoom& known = now_in_force();
  std::vector<waiting::Place> places;
  known.look_up(ids, time, places);
  if (log_.apart) {
    if (const auto changed = log_.apart->take_changed()) {
      known.look_up(*changed, time, places);
    } else {
      for (WaitingRoom::Listing at; known.list(at, places);) {
      }
    }
  }
  std::erase_if(places, [&](waiting::Place& each) {
    return !is_to_be_told(each, known, inside_.room(), time);
  });
  log_.is_cut_off = false;
  log_.apart.reset();
  hold_if_cut_off();
  return places;
}

}  // namespace spillway::proxy
