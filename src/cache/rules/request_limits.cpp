#include "cache/rules/request_limits.hpp"

#include <algorithm>

namespace spillway::cache {

bool accepts(const http::CacheControl& request, const StoredAge& stored) {
  if (request.no_cache) return false;
  if (request.max_age && stored.age > *request.max_age) return false;
  if (request.min_fresh && stored.freshness_left < *request.min_fresh) return false;
  if (stored.freshness_left > Duration(0)) return true;
  if (!request.max_stale) return false;
  return -stored.freshness_left <= std::min<Duration>(*request.max_stale, stored.stale_for);
}

}  // namespace spillway::cache
