// Request identifiers: X-Request-Id and W3C Trace Context's traceparent. Generated unless the
// client sent a valid one.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/random.hpp"

namespace spillway::http {

inline constexpr std::size_t kRequestIdSize = 32;      // 128 random bits as hexadecimal digits
inline constexpr std::size_t kTraceparentSize = 55;    // 00-<32 hex>-<16 hex>-01
inline constexpr std::size_t kMaxRequestIdSize = 128;  // of an id sent by a client

// Both return a view of `into`.
std::string_view make_request_id(Random& random, std::array<char, kRequestIdSize>& into);
// Version 00, flags 01 (sampled); trace id and parent id are never all zero.
std::string_view make_traceparent(Random& random, std::array<char, kTraceparentSize>& into);

// 1 to 128 visible ASCII characters without quote, backslash, comma and semicolon, so that it needs
// no escaping in logs, JSON and field values.
bool valid_request_id(std::string_view id);
// https://www.w3.org/TR/trace-context/ section 3.2.2: lower-case hexadecimal, known lengths, ids
// not all zero; versions above 00 may have more after a further "-", version ff is invalid.
bool valid_traceparent(std::string_view value);

}  // namespace spillway::http
