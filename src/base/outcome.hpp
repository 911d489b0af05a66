// How a request ended. Outcomes exclude one another: each request counts in exactly one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway {

enum class Outcome : std::uint8_t {
  forwarded,    // the upstream's response was relayed
  cached,       // answered from the store in normal operation: nothing is missing
  degraded,     // answered with less than asked for
  denied,       // refused on arrival, 429 or 503
  dropped,      // closed without an answer, by rule
  expired,      // its deadline or longest wait passed before a slot came
  evicted,      // gave its queue place to a higher class
  error,        // a proxy error: bad request, upstream failure or timeout
  client_gone,  // the client left before its answer was complete
};

inline constexpr std::size_t kOutcomeCount = 9;

constexpr std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, kOutcomeCount> names{
      "forwarded", "cached",  "degraded", "denied",     "dropped",
      "expired",   "evicted", "error",    "client_gone"};
  return names[index(outcome)];
}

}  // namespace spillway
