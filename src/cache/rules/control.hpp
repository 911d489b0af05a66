// Which cache directives of a response apply to this cache (RFC 9111 section 5.2, RFC 9213).
#pragma once

#include "config/config.hpp"
#include "http/caching/cache_control.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

struct ResponseControl {
  http::CacheControl directives;
  // From one of the configured targeted fields: Cache-Control, Expires and Pragma do not count.
  bool is_targeted = false;
};

// The first of the targeted fields that the response has in a valid form, else Cache-Control.
ResponseControl response_control(const http::FieldList& response, const config::Cache& settings);

// Whether it says how long the response is fresh.
bool has_explicit_lifetime(const http::FieldList& response, const ResponseControl& control);

}  // namespace spillway::cache
