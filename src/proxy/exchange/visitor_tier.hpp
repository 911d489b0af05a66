// Who a visitor is, from what is verified: the tier in which it waits and its user, by an API key
// or the word of a trusted peer, which are asked for at the first contact and then carried in the
// signed stamp and ticket; and its address.
#pragma once

#include "proxy/exchange/request_context.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/configured.hpp"

namespace spillway::proxy {

// The request is classified.
inline waiting::Priority visitor_tier(const RequestContext& request,
                                      const config::WaitingRoom& settings) {
  return waiting::priority_of(settings,
                              request.generation->generation().classifier.waiting_tier(
                                  request.head, request.client.peer, request.subject.tenant));
}

// Nobody, unless one is verified.
inline waiting::UserKey visitor_user(const RequestContext& request, const SharedWaitingRoom& room) {
  return room.key_of(request.generation->generation().classifier.waiting_user(
      request.head, request.client.peer, request.subject.tenant));
}

// Whose tickets it makes, for JoinLimit.
inline IpAddress client_address(const RequestContext& request) {
  return request.generation->generation().classifier.client_of(request.head, request.client.peer);
}

}  // namespace spillway::proxy
