// Whether an answer may be meant for one person only, and so must not be given to another.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "http/cache_control.hpp"
#include "http/field_list.hpp"

namespace spillway::degrade {

// What of the request tells the tenants' answers apart already: it is in the key. Nothing when
// the route's answers are shared across tenants, whatever is said here.
struct TenantInKey {
  bool by_api_key = false;      // X-Api-Key told the tenant
  std::string_view by_field{};  // the trusted field that told it; empty: none did
};

// A request is personal by Authorization, and by each of the configured `personal` fields that it
// brings (an empty value too) unless the key holds what the field tells: because it told the
// tenant, or because the configured `vary` or `vary` here (names, comma-separated, as in a Vary
// field) names it. Authorization stays personal even then.
bool is_personal(const http::FieldList& request, const config::Cache& settings,
                 const TenantInKey& tenant, std::string_view vary);
// Likewise, with the names of the response's Vary fields.
bool is_personal(const http::FieldList& request, const config::Cache& settings,
                 const TenantInKey& tenant, const http::FieldList& response);

// Whether a response to this request may be given to anyone: `public` or `s-maxage`, and for one
// to a request with Authorization also must-revalidate (RFC 9111 section 3.5).
bool is_open(const http::FieldList& request, const http::CacheControl& response);

// Whether a stored answer, open or not, whose key was made with these names of `vary`, may be
// given to this request.
inline bool may_be_given(bool open, const http::FieldList& request, const config::Cache& settings,
                         const TenantInKey& tenant, std::string_view vary) {
  return open || !is_personal(request, settings, tenant, vary);
}

}  // namespace spillway::degrade
