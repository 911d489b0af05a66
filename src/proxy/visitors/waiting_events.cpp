// Event streams (WHATWG HTML section 9.2) for the status of visitors in a waiting room.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "proxy/request/admission/long_lived.hpp"
#include "proxy/visitors/visitor_stream.hpp"
#include "proxy/visitors/waiting_resource.hpp"
#include "proxy/visitors/waiting_response.hpp"

namespace spillway::proxy {

namespace {

// A visitor farther back polls: a place there changes its estimate more than its position.
constexpr std::size_t kFront = 1000;
// The part of limits.tunnels for visitors is one in this many; the others are for the backend.
constexpr std::uint32_t kShareOfTunnels = 4;

}  // namespace

Task<Answer> WaitingResource::begin_events() {
  const std::optional<waiting::Token> token = tokens_.find(*room_, services_.now());
  const bool is_ticket = token && token->kind == waiting::TokenKind::ticket;
  if (is_ticket) {
    const VisitorStatus status = co_await ask();
    if (status.limit != Reason::none) co_return too_many_visits(status.limit, status.poll);
    // A stream cannot deliver a ticket that was signed again: the visitor gets it at its next poll.
    if (status.view && !given_ && !status.view->begins && status.view->ahead < kFront)
      seat_ = room_->take_event_seat(services_.tunnel_permits.most(request_.limits().tunnels) /
                                     kShareOfTunnels);
  }
  if (seat_) {
    followed_ = *token;
    co_return WaitingEvents{};
  }
  co_return Fault{
      .outcome = Outcome::cached,
      .status = 409,
      .detail = "Events are for the front of the line, as far as they go: ask for /ticket."};
}

Task<std::optional<Fault>> WaitingResource::send_events(ClientSession& session, Parking& parking,
                                                        Admission& admission) {
  TunnelPermit permit;
  if (auto none = begin_own_events(services_, request_, admission, session, permit)) co_return none;
  auto stream = std::make_unique<VisitorStream>(
      services_, VisitorStream::Parts{.generation = request_.generation,
                                      .room = *room_,
                                      .settings = *settings_,
                                      .ticket = followed_,
                                      .seat = std::move(seat_),
                                      .permit = std::move(permit)});
  const VisitorStream::News first = stream->news();
  const bool sent = co_await send_to_client(parking, session, first.text, {.client_gone = true});
  if (!sent) co_return client_gone();
  if (first.is_last) {
    stream->end(end_of_own_events(services_));
  } else {
    session.hand_over(std::move(stream));
  }
  co_return std::nullopt;
}

}  // namespace spillway::proxy
