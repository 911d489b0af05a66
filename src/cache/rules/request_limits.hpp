// Cache-Control of requests (RFC 9111 section 5.2.1), for routes that serve fresh responses. The
// directives are advisory: under overload they are ignored, or clients that reload would bypass the
// cache.
#pragma once

#include "base/time.hpp"
#include "http/caching/cache_control.hpp"

namespace spillway::cache {

// A stored response at the time of the request.
struct StoredAge {
  Duration age{};
  Duration freshness_left{};  // negative: stale for as long
  Duration stale_for{};       // may be served stale for so long (Validity)
};

// Whether a request with these directives (request_cache_control) accepts the stored response
// without revalidation. no-cache: never; max-age: maximum age; min-fresh: minimum freshness left;
// stale only with max-stale, for no longer than that, nor longer than the response itself allows.
bool accepts(const http::CacheControl& request, const StoredAge& stored);

}  // namespace spillway::cache
