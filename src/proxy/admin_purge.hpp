// What POST /cache/purge is asked to forget.
//
// The body is a JSON object with exactly one member, a string:
//
//     {"key": "http://shop.example/list?page=2"}   every answer stored for this URL
//     {"key": "/list?page=2"}                      the same at any host
//     {"prefix": "http://shop.example/list"}       URLs that begin so; likewise with "/list"
//     {"route": "list"}                            all that the route's cache holds
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace spillway::proxy {

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

// Longer texts are refused: no request line is as long.
inline constexpr std::size_t kMaxPurgeText = 16384;

// The request, or what is wrong with it in words. Any bytes may be given.
std::variant<PurgeRequest, std::string> read_purge(std::string_view body);

}  // namespace spillway::proxy
