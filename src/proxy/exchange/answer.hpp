// What answers a request.
#pragma once

#include <variant>

#include "proxy/exchange/fault.hpp"

namespace spillway::proxy {

struct UpstreamResponse {};  // the upstream's, whose head has been read
struct ProtocolSwitch {};    // the upstream's 101: a tunnel
struct CachedResponse {};    // the one that the cache lookup holds
struct RouteFallback {};     // the route's
// A fault that is said to the client (fault.hpp), or ends the connection without a word.

using Answer = std::variant<Fault, UpstreamResponse, ProtocolSwitch, CachedResponse, RouteFallback>;

inline const Fault* fault_in(const Answer& answer) { return std::get_if<Fault>(&answer); }
template <class Kind>
bool is(const Answer& answer) {
  return std::holds_alternative<Kind>(answer);
}

}  // namespace spillway::proxy
