// Targeted cache control (RFC 9213): a response field such as CDN-Cache-Control that takes the
// place of Cache-Control and Expires in the caches that it is meant for.
#pragma once

#include <optional>
#include <string_view>

#include "http/caching/cache_control.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// The directives in all fields of that name, a structured dictionary (RFC 8941 section 3.2).
// Nothing when there is none, when it is empty, not a dictionary, or gives a known directive a
// value of another type than an integer or, for those without a value, true: it is then ignored
// (RFC 9213 section 2.1). Of a repeated directive the last one counts.
std::optional<CacheControl> targeted_cache_control(const FieldList& fields, std::string_view name);

}  // namespace spillway::http
