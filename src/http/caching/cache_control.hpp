// The Cache-Control directives of a message (RFC 9111 section 5.2, RFC 5861), of either direction.
//
// Repeated, contradictory or malformed directives get the most restrictive reading: of several
// numbers the more restrictive one; a malformed number is 0 (min-fresh: the largest); an
// unterminated quoted string makes the whole field `no-store, private`. Names are case-insensitive,
// numbers may be quoted, unknown directives are ignored. Nothing allocates.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "http/field/field_list.hpp"

namespace spillway::http {

// The largest number of seconds; larger ones are clamped to it (RFC 9111 section 1.2.2).
inline constexpr std::chrono::seconds kMaxDeltaSeconds{2147483648};

struct CacheControl {
  bool present = false;   // there is a Cache-Control field
  bool no_cache = false;  // also with a list of fields: then the whole response needs validation
  bool no_store = false;
  bool no_transform = false;
  // Directives of requests.
  bool only_if_cached = false;
  std::optional<std::chrono::seconds> max_stale;  // without a number: kMaxDeltaSeconds
  std::optional<std::chrono::seconds> min_fresh;
  // Directives of requests and responses.
  std::optional<std::chrono::seconds> max_age;
  // Directives of responses.
  bool is_public = false;
  bool is_private = false;  // also with a list of fields: then the whole response is private
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool immutable = false;
  std::optional<std::chrono::seconds> s_maxage;
  std::optional<std::chrono::seconds> stale_while_revalidate;
  std::optional<std::chrono::seconds> stale_if_error;
};

// All Cache-Control fields together; cheap when there is none.
CacheControl cache_control(const FieldList& fields);

// Likewise for a request, where `Pragma: no-cache` counts as no-cache if there is no Cache-Control
// (RFC 9111 section 5.4).
CacheControl request_cache_control(const FieldList& fields);

// Whether a Pragma field says no-cache.
bool pragma_no_cache(const FieldList& fields);

// Parses delta-seconds, at most kMaxDeltaSeconds; nullopt for other text.
std::optional<std::chrono::seconds> parse_delta_seconds(std::string_view text);

}  // namespace spillway::http
