// The tier in which a visitor waits, from what is verified: an API key, or the word of a trusted
// peer. It is asked for at the first contact and then carried in the signed stamp and ticket.
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

}  // namespace spillway::proxy
