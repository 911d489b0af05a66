// What an operator asks the caches of all routes to forget, and what came of it.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::cache {

struct PurgeRequest {
  enum class Kind : std::uint8_t { key, prefix, route };
  Kind kind = Kind::key;
  std::string authority;  // of key and prefix: lower case, its port if one was given; empty: any
  std::string
      path_and_query;  // of key and prefix: begins with "/", byte for byte as requests say it
  std::string route;   // of route: the name as it was given, not looked up
};

struct PurgeResult {
  std::uint64_t purged = 0;  // stored answers that are gone
  std::string unknown;       // not empty: there is no such route or no cache, in words
};

}  // namespace spillway::cache
