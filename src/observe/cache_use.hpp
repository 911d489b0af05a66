// What a route's response cache did for requests, and what was done to fill it: two enums to
// count by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

// Each request on a route with a cache counts in exactly one, whatever it was answered with.
enum class CacheLookup : std::uint8_t {
  fresh,      // answered with a stored response that was fresh
  stale,      // answered with one that was not fresh, without asking the upstream
  miss,       // nothing was stored that it could be given
  collapsed,  // answered with what another request for the same thing had the upstream send
  bypass,     // the store was not asked: normal operation, or a request that no cache may answer
};
inline constexpr std::size_t kCacheLookupCount = 5;

// Each request that went to the upstream for the store's sake (a miss, a validation or a refresh
// in the background) or would have, counts in exactly one. Answers stored in passing, of requests
// that bypassed the store, do not.
enum class CacheRefresh : std::uint8_t {
  stored,        // its answer was stored
  not_modified,  // 304: what is stored is fresh again
  failed,        // it failed, or its answer could not be stored
  no_room,       // in the background: no slot was free at once, and it was not sent
};
inline constexpr std::size_t kCacheRefreshCount = 4;

constexpr std::string_view name(CacheLookup result) {
  constexpr std::array<std::string_view, kCacheLookupCount> names{"fresh", "stale", "miss",
                                                                  "collapsed", "bypass"};
  return names[index(result)];
}

constexpr std::string_view name(CacheRefresh result) {
  constexpr std::array<std::string_view, kCacheRefreshCount> names{"stored", "not_modified",
                                                                   "failed", "no_room"};
  return names[index(result)];
}

}  // namespace spillway::observe
