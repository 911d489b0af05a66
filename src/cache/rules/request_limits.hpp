// What the client says of the stored answers it takes (RFC 9111 section 5.2.1), for routes that
// serve what is fresh. They are advisory: who degrades does not ask, or a crowd that reloads would
// get past the cache.
#pragma once

#include "base/time.hpp"
#include "http/cache_control.hpp"

namespace spillway::cache {

// A stored answer at the time of the request.
struct StoredAge {
  Duration age{};
  Duration freshness_left{};  // negative: stale for as long
  Duration stale_for{};       // how long after its freshness it may be given (Validity)
};

// Whether a request with these directives (request_cache_control) takes the answer as it is:
// no-cache does not; max-age: no older than that; min-fresh: fresh for as long still; stale only
// with max-stale, for no longer than that, nor longer than the answer itself allows.
bool takes(const http::CacheControl& request, const StoredAge& stored);

}  // namespace spillway::cache
