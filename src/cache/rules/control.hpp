// Which cache directives of a response apply to this cache (RFC 9111 section 5.2, RFC 9213).
#pragma once

#include "config/config.hpp"
#include "http/caching/cache_control.hpp"
#include "http/caching/targeted_control.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

struct ResponseControl {
  http::CacheControl directives;
  // From one of the configured targeted fields: Cache-Control, Expires and Pragma do not count.
  bool is_targeted = false;
};

// The first targeted field that the response has in a valid form, or else Cache-Control.
inline ResponseControl response_control(const http::FieldList& response,
                                        const config::Cache& settings) {
  for (const std::string& name : settings.targeted) {
    if (const auto targeted = http::targeted_cache_control(response, name))
      return {*targeted, true};
  }
  return {http::cache_control(response), false};
}

// Whether it states how long the response is fresh.
inline bool has_explicit_lifetime(const http::FieldList& response, const ResponseControl& control) {
  return control.directives.max_age || control.directives.s_maxage ||
         (!control.is_targeted && response.contains(http::FieldId::expires));
}

}  // namespace spillway::cache
