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
#include <string>
#include <string_view>
#include <variant>

#include "cache/rules/purge_request.hpp"

namespace spillway::proxy {

// Longer texts are refused: no request line is as long.
inline constexpr std::size_t kMaxPurgeText = 16384;

// The request, or what is wrong with it in words. Any bytes may be given.
std::variant<cache::PurgeRequest, std::string> read_purge(std::string_view body);

}  // namespace spillway::proxy
