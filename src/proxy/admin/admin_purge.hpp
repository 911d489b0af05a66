// Parses the body of POST /cache/purge.
//
// The body is a JSON object with exactly one member, a string:
//
//     {"key": "http://shop.example/list?page=2"}   all responses cached for this URL
//     {"key": "/list?page=2"}                      the same for any host
//     {"prefix": "http://shop.example/list"}       URLs with this prefix; likewise "/list"
//     {"route": "list"}                            everything in the route's cache
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "cache/rules/purge_request.hpp"

namespace spillway::proxy {

// Longer strings are refused: no request line is that long.
inline constexpr std::size_t kMaxPurgeText = 16384;

// The request, or an error message. Accepts any bytes.
std::variant<cache::PurgeRequest, std::string> read_purge(std::string_view body);

}  // namespace spillway::proxy
