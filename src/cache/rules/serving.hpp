// Whether a request is answered from the cache before the upstream is asked (RFC 9111 section 4,
// RFC 5861 section 3).
#pragma once

#include <cstdint>

#include "http/caching/cache_control.hpp"

namespace spillway::cache {

enum class Serving : std::uint8_t {
  bypass,                  // the cache is not consulted in normal operation
  fresh,                   // the stored response is used
  stale_while_revalidate,  // it is used although stale; the upstream is asked afterwards
  fetch,                   // the upstream is asked, also to update the cache
};

constexpr bool is_from_cache(Serving serving) {
  return serving == Serving::fresh || serving == Serving::stale_while_revalidate;
}

struct ServingFacts {
  bool serves_fresh = false;                   // the route serves fresh responses at any time
  bool is_fresh_enough = false;                // for this request (request_limits.hpp)
  bool may_serve_stale = false;                // the stored response allows it now
  bool allows_stale_while_revalidate = false;  // its Cache-Control says so
};

// Whether the cache is consulted. For an only-if-cached request it always is.
constexpr bool looks_up(const http::CacheControl& request, bool serves_fresh) {
  return serves_fresh || request.only_if_cached;
}

inline Serving serving(const http::CacheControl& request, const ServingFacts& facts) {
  if (!looks_up(request, facts.serves_fresh)) return Serving::bypass;
  if (facts.is_fresh_enough) return Serving::fresh;
  const bool asks_for_newer = request.no_cache || request.max_age || request.min_fresh;
  if (!asks_for_newer && facts.may_serve_stale && facts.allows_stale_while_revalidate)
    return Serving::stale_while_revalidate;
  return Serving::fetch;
}

}  // namespace spillway::cache
