// How a request ended. Mutually exclusive: each request counts in exactly one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway {

enum class Outcome : std::uint8_t {
  forwarded,    // the upstream's response was relayed
  cached,       // answered from the cache, or by the proxy itself: on a job, on a place
  degraded,     // stale, cached or fallback response under overload or failure
  deferred,     // answered 202: stored, to be forwarded later
  waiting,      // told to wait in its waiting room
  denied,       // refused on arrival with 429 or 503
  dropped,      // closed without a response, by rule
  expired,      // deadline or maximum wait passed before it got a slot
  evicted,      // removed from the queue in favour of a higher class
  error,        // a proxy error: bad request, upstream failure or timeout
  client_gone,  // the client left before its response was complete
};

inline constexpr std::size_t kOutcomeCount = 11;

constexpr std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, kOutcomeCount> names{
      "forwarded", "cached",  "degraded", "deferred", "waiting",    "denied",
      "dropped",   "expired", "evicted",  "error",    "client_gone"};
  return names[index(outcome)];
}

}  // namespace spillway
