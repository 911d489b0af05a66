// The status of a visitor of a waiting room as server-sent events (WHATWG HTML section 9.2).
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/exchange/long_lived.hpp"
#include "proxy/exchange/waiting_resource.hpp"
#include "proxy/exchange/waiting_response.hpp"

namespace spillway::proxy {

namespace {

// How often its place is looked at.
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kComment = std::chrono::seconds(15);
// It keeps a configuration from being cleared away; the page opens another.
constexpr Duration kLongest = std::chrono::minutes(10);
// Who is farther back polls: a place there changes its estimate more than its position.
constexpr std::size_t kFront = 1000;
// Of limits.tunnels; the others are for the backend.
constexpr std::uint32_t kShareOfTunnels = 4;

// What has become of a ticket of which so many steps were told, in the words of the webhook. Empty:
// nothing that is known.
std::string_view event_of(const VisitorStatus& status, std::uint8_t steps) {
  if (status.end) return is_expiry(status.end->why) ? "expired" : "cancelled";
  switch (status.state) {
    case VisitorStatus::State::waiting: return status.view->steps > steps ? "position" : "";
    case VisitorStatus::State::processing: return "called";
    case VisitorStatus::State::fulfilled: return "fulfilled";
    case VisitorStatus::State::ended: return "cancelled";
    default: return {};
  }
}

}  // namespace

Task<Answer> WaitingResource::begin_events() {
  const std::optional<waiting::Token> token = tokens_.find(*room_, services_.now());
  const bool is_ticket = token && token->kind == waiting::TokenKind::ticket;
  if (is_ticket) {
    const VisitorStatus status = co_await ask();
    if (status.limit != Reason::none) co_return too_many_visits(status.limit, status.poll);
    // A stream cannot hand out a ticket that is signed anew: the visitor gets it by its next poll.
    if (status.view && !given_ && !status.view->begins && status.view->ahead < kFront)
      seat_ = room_->take_event_seat(request_.limits().tunnels / kShareOfTunnels);
  }
  if (seat_) co_return WaitingEvents{};
  co_return Fault{
      .outcome = Outcome::cached,
      .status = 409,
      .detail = "Events are for the front of the line, as far as they go: ask for /ticket."};
}

Task<std::optional<Fault>> WaitingResource::send_events(ClientSession& session, Parking& parking,
                                                        Admission& admission) {
  TunnelPermit permit;
  if (auto none = begin_own_events(services_, request_, admission, session, permit)) co_return none;
  begin_stream();
  std::optional<Fault> fault = co_await tell_news(session, parking);
  permit.end(end_of_own_events(services_));
  co_return fault;
}

// The ticket's other streams end.
void WaitingResource::begin_stream() {
  const std::optional<waiting::Token> token = tokens_.find(*room_, services_.now());
  if (!token) return;
  stream_ = room_->with(services_.now(), [&](waiting::WaitingRoom& room, waiting::Time) {
    return room.follow(token->id);
  });
}

// By another tab. The page does not ask for events again, or tabs would supersede each other.
bool WaitingResource::is_superseded() {
  const std::optional<waiting::Token> token = tokens_.find(*room_, services_.now());
  return token && room_->with(services_.now(), [&](waiting::WaitingRoom& room, waiting::Time) {
    return room.is_superseded(token->id, stream_);
  });
}

Task<std::optional<Fault>> WaitingResource::tell_news(ClientSession& session, Parking& parking) {
  const TimePoint until = services_.now() + kLongest;
  std::size_t shown = static_cast<std::size_t>(-1);
  waiting::Why why = waiting::Why::none;
  std::uint64_t noticed = 0;
  std::uint8_t steps = UINT8_MAX;
  TimePoint told{};
  while (services_.now() < until && !services_.draining) {
    const VisitorStatus status = co_await ask(true);
    const bool waits = status.view && status.state == VisitorStatus::State::waiting;
    const waiting::Orders notice = room_->notice(*settings_);
    const bool is_news = !waits || status.view->ahead != shown || status.view->why != why ||
                         notice.changes != noticed;
    std::string event;
    const bool ends_here = is_superseded();
    if (ends_here) {
      event = "event: superseded\ndata: {}\n\n";
    } else if (is_news) {
      const std::string data = "\ndata: " + describe(status, notice) + "\n";
      if (const std::string_view what = event_of(status, steps); !what.empty())
        event.append("event: ").append(what).append(data);
      event += "event: status" + data;
    } else if (services_.now() - told >= kComment) {
      event = ":\n\n";  // keeps the connection alive
    }
    if (!event.empty()) {
      const bool sent = co_await send_to_client(parking, session, event);
      if (!sent) co_return client_gone();
      told = services_.now();
    }
    // A start that was put off: where it stands is not to be seen by when there is news.
    if (!waits || ends_here || status.view->begins) break;
    shown = status.view->ahead;
    steps = status.view->steps;
    why = status.view->why;
    noticed = notice.changes;
    const Wake wake =
        co_await parking.park({.deadline = services_.now() + kLook, .client_gone = true});
    if (wake == Wake::client_gone) co_return client_gone();
  }
  co_return std::nullopt;
}

std::string WaitingResource::describe(const VisitorStatus& status,
                                      const waiting::Orders& notice) const {
  return to_json(status, room_->name(), notice, room_->time_at(services_.now()));
}

}  // namespace spillway::proxy
