// Targeted cache control (RFC 9213): a response field such as CDN-Cache-Control that replaces
// Cache-Control and Expires in the caches that it targets.
#pragma once

#include <optional>
#include <string_view>

#include "http/caching/cache_control.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// The directives in all fields of that name, a structured dictionary (RFC 8941 section 3.2).
// Nothing if there is no such field, or if it is ignored (RFC 9213 section 2.1) because it is
// empty, not a dictionary, or gives a known directive a value other than an integer or, for a
// directive without a value, true. Of a repeated directive the last one counts.
std::optional<CacheControl> targeted_cache_control(const FieldList& fields, std::string_view name);

}  // namespace spillway::http
