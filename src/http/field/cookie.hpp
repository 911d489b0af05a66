// Cookies of a request (RFC 6265 section 4.2.1).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "http/field/field_list.hpp"

namespace spillway::http {

// Whether a cookie is exactly `name=value` (case counts).
bool has_cookie(const FieldList& fields, std::string_view pair);

// How many cookies have that name (case counts), and the value of the last one.
struct FoundCookie {
  std::size_t count = 0;
  std::string_view value{};
};
FoundCookie find_cookie(const FieldList& fields, std::string_view name);

// Called for each cookie, the last first: whether it is to be taken out.
using CookieFilter = std::function<bool(std::string_view name, std::string_view value)>;

// Takes cookies out of a request's head, as if they had not been sent: a Cookie line without any
// goes as well. One pass; what is kept moves towards the end of the head, whose views no longer
// hold. Returns the bytes that were taken, by which the head begins later.
std::size_t extract_cookies(std::span<char> head, const FieldList& fields,
                            const CookieFilter& is_taken);

}  // namespace spillway::http
