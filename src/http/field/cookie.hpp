// Cookies of a request (RFC 6265 section 4.2.1).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "http/field/field_list.hpp"

namespace spillway::http {

// Whether one cookie is exactly `name=value` (case-sensitive).
bool has_cookie(const FieldList& fields, std::string_view pair);

// How many cookies have that name (case-sensitive), and the value of the last one.
struct FoundCookie {
  std::size_t count = 0;
  std::string_view value{};
};
FoundCookie find_cookie(const FieldList& fields, std::string_view name);

// Called for each cookie, the last one first: returns true to remove it.
using CookieFilter = std::function<bool(std::string_view name, std::string_view value)>;

// Removes cookies from a request's head, as if they had not been sent; a Cookie line without any
// left is removed too. One pass; the bytes kept move towards the end of the head, so views of it
// become invalid. Returns the number of bytes removed: the head begins that much later.
std::size_t extract_cookies(std::span<char> head, const FieldList& fields,
                            const CookieFilter& is_taken);

}  // namespace spillway::http
