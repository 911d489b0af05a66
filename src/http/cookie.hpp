// Cookies of a request (RFC 6265 section 4.2.1).
#pragma once

#include <optional>
#include <string_view>

#include "http/field_list.hpp"

namespace spillway::http {

struct Cookie {
  std::string_view name;
  std::string_view value;
  // What to take out of the head, so that the request comes without this cookie: the pair and a
  // separator, or the whole line if it is the only one.
  std::string_view part;
};

// The first cookie whose name begins with `prefix` (case counts).
std::optional<Cookie> find_cookie(const FieldList& fields, std::string_view prefix);

}  // namespace spillway::http
