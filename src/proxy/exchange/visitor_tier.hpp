// Who a visitor is, from what is verified: the tier in which it waits, by an API key or the word of
// a trusted peer, which is asked for at the first contact and then carried in the signed stamp and
// ticket; and its address.
#pragma once

#include "proxy/exchange/request_context.hpp"
#include "waiting/configured.hpp"

namespace spillway::proxy {

// The request is classified.
inline waiting::Priority visitor_tier(const RequestContext& request,
                                      const config::WaitingRoom& settings) {
  return waiting::priority_of(settings,
                              request.generation->generation().classifier.waiting_tier(
                                  request.head, request.client.peer, request.subject.tenant));
}

// Whose tickets it makes, for JoinLimit.
inline IpAddress client_address(const RequestContext& request) {
  return request.generation->generation().classifier.client_of(request.head, request.client.peer);
}

}  // namespace spillway::proxy
