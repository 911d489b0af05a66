#include "waiting/configured.hpp"

namespace spillway::waiting {

namespace {

When when_of(config::WaitingWhen when) {
  switch (when) {
    case config::WaitingWhen::full: break;
    case config::WaitingWhen::always: return When::always;
    case config::WaitingWhen::overloaded: return When::overloaded;
  }
  return When::full;
}

}  // namespace

Terms terms_of(const config::WaitingRoom& settings) {
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

}  // namespace spillway::waiting
