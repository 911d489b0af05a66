// Cache-Control of requests (RFC 9111 section 5.2.1), for routes that serve fresh responses. The
// directives are advisory: under overload they are ignored; otherwise clients that reload would
// bypass the cache.
#pragma once

#include <algorithm>

#include "base/time.hpp"
#include "http/caching/cache_control.hpp"

namespace spillway::cache {

// A stored response's age and freshness at the time of the request.
struct StoredAge {
  Duration age{};
  Duration freshness_left{};  // negative: stale for this time
  Duration stale_for{};       // may be served stale for this time (Validity)
};

// Whether a request with these directives (request_cache_control) accepts the stored response
// without revalidation. no-cache: never; max-age: maximum age; min-fresh: minimum freshness left;
// stale only with max-stale, for no longer than that, nor longer than the response itself allows.
inline bool accepts(const http::CacheControl& request, const StoredAge& stored) {
  if (request.no_cache) return false;
  if (request.max_age && stored.age > *request.max_age) return false;
  if (request.min_fresh && stored.freshness_left < *request.min_fresh) return false;
  if (stored.freshness_left > Duration(0)) return true;
  if (!request.max_stale) return false;
  return -stored.freshness_left <= std::min<Duration>(*request.max_stale, stored.stale_for);
}

}  // namespace spillway::cache
