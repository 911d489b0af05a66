// The purpose of forwarding a request that the cache does not answer: for itself alone, to store
// the response as well, or also for other requests that wait for it (single flight).
#pragma once

#include <chrono>
#include <cstdint>

#include "http/caching/cache_control.hpp"

namespace spillway::cache {

enum class Fetch : std::uint8_t {
  plain,     // not to be stored
  to_store,  // its response may be stored
  shared,    // the same, and other requests for the key wait for it
};

struct FetchFacts {
  bool is_get = false;
  bool wants_part = false;      // it has Range
  bool was_unstorable = false;  // the key's last response
  bool accepts_stale = false;   // a rule degrades it
};

// No request waits for a response that cannot be stored. A request that demands the upstream's
// answer does not use another request's, unless a rule degrades it.
constexpr Fetch fetch_for(const http::CacheControl& request, const FetchFacts& facts) {
  if (!facts.is_get || facts.wants_part || request.no_store) return Fetch::plain;
  const bool insists = request.no_cache || request.max_age == std::chrono::seconds(0);
  if (facts.was_unstorable || (insists && !facts.accepts_stale)) return Fetch::to_store;
  return Fetch::shared;
}

}  // namespace spillway::cache
