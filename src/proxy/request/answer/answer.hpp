// The kinds of answers to a request.
#pragma once

#include <variant>

#include "proxy/request/answer/fault.hpp"

namespace spillway::proxy {

struct UpstreamResponse {};  // its head has been read
struct ProtocolSwitch {};    // the upstream's 101; becomes a tunnel
struct CachedResponse {};    // held by the cache lookup
struct RouteFallback {};     // the route's fallback response
struct DeferredRequest {};   // stored, to be forwarded later: 202
struct JobReport {};         // about a job, held by the job resource
struct JobEvents {};         // the changes of a job's state, as events
struct WaitingPage {};       // makes its visitor wait; held by the entrance
struct WaitingReport {};     // about a visitor's place, held by the waiting resource
struct WaitingEvents {};     // the changes of that place, as events
// A Fault (fault.hpp) becomes a problem response, or closes the connection without one.

using Answer =
    std::variant<Fault, UpstreamResponse, ProtocolSwitch, CachedResponse, RouteFallback,
                 DeferredRequest, JobReport, JobEvents, WaitingPage, WaitingReport, WaitingEvents>;

inline const Fault* fault_in(const Answer& answer) { return std::get_if<Fault>(&answer); }
template <class Kind>
bool is(const Answer& answer) {
  return std::holds_alternative<Kind>(answer);
}

template <class... Functions>
struct Overloads : Functions... {
  using Functions::operator()...;
};

// Calls the function for the answer's kind. Compiles only if there is one for each kind.
template <class... Functions>
auto by_kind(const Answer& answer, Functions... functions) {
  return std::visit(Overloads<Functions...>{functions...}, answer);
}

}  // namespace spillway::proxy
