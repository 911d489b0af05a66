// A request to purge the caches of all routes, as the admin server receives it, and its result.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::cache {

struct PurgeRequest {
  enum class Kind : std::uint8_t { key, prefix, route };
  Kind kind = Kind::key;
  // Key and prefix: lower case, with the port if given; empty: any.
  std::string authority;
  // Key and prefix: begins with "/", byte for byte as in requests.
  std::string path_and_query;
  std::string route;  // route: the name as given
};

struct PurgeResult {
  std::uint64_t purged = 0;  // responses
  std::string unknown;       // if not empty, an error message: no such route, or it has no cache
};

}  // namespace spillway::cache
