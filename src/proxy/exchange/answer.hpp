// What answers a request.
#pragma once

#include <variant>

#include "proxy/exchange/fault.hpp"

namespace spillway::proxy {

struct UpstreamResponse {};  // its head has been read
struct ProtocolSwitch {};    // the upstream's 101; becomes a tunnel
struct CachedResponse {};    // held by the cache lookup
struct RouteFallback {};     // the route's fallback response
// A Fault (fault.hpp) becomes a problem response, or closes the connection without one.

using Answer = std::variant<Fault, UpstreamResponse, ProtocolSwitch, CachedResponse, RouteFallback>;

inline const Fault* fault_in(const Answer& answer) { return std::get_if<Fault>(&answer); }
template <class Kind>
bool is(const Answer& answer) {
  return std::holds_alternative<Kind>(answer);
}

}  // namespace spillway::proxy
