// The status of a visitor's place in a waiting room, as JSON and as header fields.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "config/config.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/room/waiting_room.hpp"
#include "waiting/token/challenge.hpp"
#include "waiting/token/token.hpp"

namespace spillway::proxy {

struct VisitorStatus {
  enum class State : std::uint8_t {
    arrived,     // has only a stamp
    offered,     // the same, and may take a place
    waiting,     // has a place
    processing,  // called
    fulfilled,   // has a pass
    full,        // would not get in within max_wait_ms: has no place
    closed,      // no visitor has to wait
    cancelled,   // its place or session was given up, or was ended: see `end`
    ended,       // the operator ended the waiting room
    expired,     // its place or session timed out: see `end`
    elsewhere    // its user has as many as allowed; `id` is one of them
  };
  State state = State::arrived;
  Milliseconds poll{0};                            // until the next poll
  std::optional<waiting::TicketId> id;             // of its ticket, or session
  std::optional<waiting::WaitingRoom::View> view;  // the same
  std::optional<waiting::End> end;                 // if it ended lately
  bool is_unknown = false;  // the log of a shared room does not answer: poll again
  // POLL_LIMIT, JOIN_LIMIT: answered 429, only `poll` is used; WORK_REQUIRED: 403
  Reason limit = Reason::none;
  std::optional<waiting::Challenge> challenge{};  // the proof of work for a place
};

std::string_view name(VisitorStatus::State state);

// When a visitor with only a stamp is to come again: well within the stamp's life.
inline Milliseconds stamp_poll(const config::WaitingRoom& settings) {
  return std::min<Milliseconds>(settings.page.poll.min, waiting::kStampLife / 3);
}

// Whether a visitor has to take its place explicitly.
inline bool offers_places(const config::WaitingRoom& settings) {
  return settings.tickets.join == config::WaitingJoin::offer;
}
// How long a stamp may be turned into a ticket.
inline Milliseconds stamp_life(const config::WaitingRoom& settings) {
  if (offers_places(settings)) return waiting::kOfferLife;
  return settings.tickets.challenge.work_bits > 0 ? waiting::kWorkLife : waiting::kStampLife;
}
// The proof of work that a ticket for this stamp requires.
inline std::optional<waiting::Challenge> challenge_of(const config::WaitingRoom& settings,
                                                      const waiting::Token& stamp) {
  if (!waiting::takes_work(settings, stamp)) return std::nullopt;
  return waiting::Challenge{settings.tickets.challenge.work_bits, stamp.id};
}

VisitorStatus status_of(const waiting::TicketId& id, const waiting::WaitingRoom::View& view);
VisitorStatus status_of(const waiting::TicketId& id, const waiting::End& end);
VisitorStatus status_of(Reason limit, Milliseconds later);

// A waiting room, its settings, and the time of the request.
struct VisitorAt {
  SharedWaitingRoom& room;
  const config::WaitingRoom& settings;
  TimePoint now;
};
// The status of a visitor without a valid token: it has to request the route itself again.
VisitorStatus status_without_place(VisitorAt at);
// The status of a visitor whose place or session has ended: `expired` or `cancelled`. While the
// room is closed an expired visitor gets `closed` instead, since it may enter.
VisitorStatus status_at_end(const waiting::TicketId& id, const waiting::End& end, VisitorAt at);
// The status of a visitor that polled with that ticket.
VisitorStatus status_of(const SharedWaitingRoom::Asked& asked, const waiting::Token& ticket,
                        VisitorAt at);

// The status of a visitor that the door neither let in nor let wait.
VisitorStatus turned_away(waiting::WaitingRoom::Door door, const SharedWaitingRoom& room,
                          const config::WaitingRoom& settings, const waiting::UserKey& user);

// One line, with a line end. `more`: members to begin with, each followed by a comma.
std::string to_json(const VisitorStatus& status, std::string_view room,
                    const waiting::Orders& notice, waiting::Time now, std::string_view more = {});

}  // namespace spillway::proxy
