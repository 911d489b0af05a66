// May this answer be stored (RFC 9111 section 3, of a shared cache), and for whom?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cache/rules/personal.hpp"
#include "config/config.hpp"
#include "http/head.hpp"

namespace spillway::cache {

// Why an answer is not stored.
enum class Unstorable : std::uint8_t {
  none,           // it may be stored
  method,         // of the request: not GET, or not one of the configured ones
  body,           // the request has one
  part,           // Range, If-Range, If-Match or If-Unmodified-Since
  request_says,   // no-store in the request
  status,         // never stored, or must-understand and not understood
  no_store,       // of the response
  is_private,     // also with a list of fields
  sets_cookie,    // it would log the next one in as the first
  vary,           // `*`, or what is no list of field names
  authorization,  // the request has it, and nothing gives leave
  personal,       // likewise another of the fields that make it one person's
  no_lifetime,    // a status that is not cacheable by default, and nothing says for how long
};
inline constexpr std::size_t kUnstorableCount = 13;

// For logs and tests, e.g. "no-store"; empty for none.
constexpr std::string_view name(Unstorable why) {
  constexpr std::array<std::string_view, kUnstorableCount> names{
      "",           "method",  "body",       "part", "request no-store", "status",
      "no-store",   "private", "Set-Cookie", "Vary", "Authorization",    "personal",
      "no lifetime"};
  return names[static_cast<std::size_t>(why)];
}

struct Storable {
  Unstorable why_not = Unstorable::none;
  bool open = false;  // the response gives leave to give it to anyone (RFC 9111 section 3.5)

  explicit operator bool() const { return why_not == Unstorable::none; }
};

// Whether a request may be answered from the store, and its answer be looked at by storable():
// GET or HEAD as configured, without a body or an upgrade, not for a part.
bool request_may_use_cache(const http::RequestHead& request, const config::Cache& settings);

// Of a response to this request. Neither its size nor its completeness is asked for. A request
// that was sent on with `Spillway-Degrade` gets a lesser answer: do not store that.
Storable storable(const http::RequestHead& request, const http::ResponseHead& response,
                  const config::Cache& settings, const TenantInKey& tenant);

// Likewise for what a 304 to this request makes of a stored response: `merged` has the stored
// status and the fields of both (merge.hpp).
Storable storable_after(const http::ResponseHead& not_modified, const http::RequestHead& request,
                        const http::ResponseHead& merged, const config::Cache& settings,
                        const TenantInKey& tenant);

// After a 304: whether it is the response that is no longer to be stored, so that what is stored
// must go too; not so when this request alone is why nothing new is stored.
constexpr bool withdraws(Unstorable why) { return why >= Unstorable::status; }

}  // namespace spillway::cache
