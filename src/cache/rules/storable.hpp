// Whether a shared cache may store a response (RFC 9111 section 3), and for which clients reuse it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/rules/personal.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"

namespace spillway::cache {

// Why a response is not stored.
enum class Unstorable : std::uint8_t {
  none,           // it may be stored
  method,         // of the request: not GET, or not configured
  body,           // the request has a body
  part,           // Range, If-Range, If-Match or If-Unmodified-Since
  overridden,     // the request asks for another method or URI by a field (overridden.hpp)
  request_says,   // no-store in the request
  status,         // never stored, or must-understand and not understood
  no_store,       // of the response
  is_private,     // also with a list of fields
  sets_cookie,    // Set-Cookie would log other clients in as the first
  vary,           // `*`, or not a list of field names
  authorization,  // of the request, and the response does not allow sharing
  personal,       // the same for another personal field of the request (personal.hpp)
  no_lifetime,    // no explicit lifetime, and the status is not kept without one
};
inline constexpr std::size_t kUnstorableCount = 14;

// For logs and tests, e.g. "no-store"; empty for none.
constexpr std::string_view name(Unstorable why) {
  constexpr std::array<std::string_view, kUnstorableCount> names{
      "",         "method",     "body",    "part",       "overridden", "request no-store",
      "status",   "no-store",   "private", "Set-Cookie", "Vary",       "Authorization",
      "personal", "no lifetime"};
  return names[static_cast<std::size_t>(why)];
}

struct Storable {
  Unstorable why_not = Unstorable::none;
  bool open = false;  // the response allows reuse for any client (RFC 9111 section 3.5)

  explicit operator bool() const { return why_not == Unstorable::none; }
};

// Whether a request may be answered from the store and its response considered by storable(): GET
// or HEAD as configured, without body or a field that overrides method or URI. Ranges and
// preconditions: http/caching/conditional.hpp. Whether it asks for a tunnel depends on the route: a
// request whose Upgrade is not passed on (http/message/upgrade.hpp) is an ordinary one.
bool request_may_use_cache(const http::RequestHead& request, const config::Cache& settings);

// Size and completeness are not checked here. Do not store the response to a request that was
// forwarded with `Spillway-Degrade`: the upstream may have reduced it.
Storable storable(const http::RequestHead& request, const http::ResponseHead& response,
                  const config::Cache& settings, const TenantInKey& tenant);

// The same for a stored response updated by a 304: `merged` has the stored status and the merged
// fields (merge.hpp).
Storable storable_after(const http::ResponseHead& not_modified, const http::RequestHead& request,
                        const http::ResponseHead& merged, const config::Cache& settings,
                        const TenantInKey& tenant);

// After a 304: whether the stored response must be removed as well, because the response has become
// unstorable; not if only this request prevents storing.
constexpr bool withdraws(Unstorable why) { return why >= Unstorable::status; }

}  // namespace spillway::cache
