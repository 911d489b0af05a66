// Results of cache lookups, and of the upstream requests that fill the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

// Each request on a route with a cache counts in exactly one of these.
enum class CacheResult : std::uint8_t {
  fresh,      // answered with a stored response that was fresh
  stale,      // answered with a stored response that was stale, without asking the upstream
  miss,       // nothing usable was stored
  collapsed,  // answered with the upstream's response to another request (single flight)
  bypass,     // no cache lookup: normal operation, or a request that no cache may answer
};
inline constexpr std::size_t kCacheResultCount = 5;

// Each upstream request to fill the cache (a miss, a validation, a background refresh) counts in
// exactly one of these. Responses to requests that bypassed the cache do not count, even if stored.
enum class CacheRefresh : std::uint8_t {
  stored,        // its response was stored
  not_modified,  // 304: the stored response is fresh again
  failed,        // it failed, or its response could not be stored
  no_room,       // in the background: no slot was free immediately, so it was not sent
};
inline constexpr std::size_t kCacheRefreshCount = 4;

constexpr std::string_view name(CacheResult result) {
  constexpr std::array<std::string_view, kCacheResultCount> names{"fresh", "stale", "miss",
                                                                  "collapsed", "bypass"};
  return names[index(result)];
}

constexpr std::string_view name(CacheRefresh result) {
  constexpr std::array<std::string_view, kCacheRefreshCount> names{"stored", "not_modified",
                                                                   "failed", "no_room"};
  return names[index(result)];
}

}  // namespace spillway::observe
