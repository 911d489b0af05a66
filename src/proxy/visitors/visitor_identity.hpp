// A visitor's verified identity: its tier and its user, from a signed token, an API key or the
// fields of a trusted peer, which are read at the first contact and then carried in the signed
// stamp and ticket; and its address.
//
// The request has to be classified.
#pragma once

#include "proxy/request/context/request_context.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"
#include "waiting/terms/configured.hpp"

namespace spillway::proxy {

// The claims of its tokens (trusted_tokens) if they are valid; invalid tokens are counted. Most are
// verified once (TokenCache); for an address that sends many bad signatures, tokens that take long
// are not verified: else a flood of them would use up the processor.
traffic::TokenWord token_word(const RequestContext& request, SharedWaitingRoom& room,
                              TimePoint now);

inline waiting::Priority visitor_tier(const RequestContext& request,
                                      const config::WaitingRoom& settings,
                                      const traffic::TokenWord& word) {
  return waiting::priority_of(
      settings, request.generation->generation().classifier.waiting_tier(
                    request.head, request.client.peer, request.classification.tenant, word));
}

// The user, if one is verified; else none.
inline traffic::VerifiedUser verified_user(const RequestContext& request,
                                           const traffic::TokenWord& word) {
  return request.generation->generation().classifier.waiting_user(
      request.head, request.client.peer, request.classification.tenant, word);
}
inline waiting::UserKey visitor_user(const RequestContext& request, const SharedWaitingRoom& room,
                                     const traffic::TokenWord& word) {
  return room.key_of(verified_user(request, word));
}

// The address to which its tickets are counted, for AddressLimit.
inline IpAddress client_address(const RequestContext& request) {
  return request.generation->generation().classifier.client_of(request.head, request.client.peer);
}

}  // namespace spillway::proxy
