// Whether an answer may be meant for one person only, and so must not be given to another.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "http/field_list.hpp"

namespace spillway::cache {

// What of the request tells the tenants' answers apart already: it is in the key. Nothing when
// the route's answers are shared across tenants, whatever is said here.
struct TenantInKey {
  bool by_api_key = false;      // X-Api-Key told the tenant
  std::string_view by_field{};  // the trusted field that told it; empty: none did
};

// Whether the request brings one of the configured `personal` fields (an empty value too) of which
// the key does not hold what it tells: it did not tell the tenant, and neither the configured
// `vary` nor `vary` here (names, comma-separated, as in a Vary field) names it.
bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, std::string_view vary);
// Likewise, with the names of the response's Vary fields.
bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, const http::FieldList& response);

// A request is personal by Authorization, even where Vary names it, and by those fields.
inline bool is_personal(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, std::string_view vary) {
  return request.contains(http::FieldId::authorization) ||
         has_personal_field(request, settings, tenant, vary);
}

// Whether a stored answer, open or not, whose key was made with these names of `vary`, may be
// given to this request.
inline bool may_be_given(bool open, const http::FieldList& request, const config::Cache& settings,
                         const TenantInKey& tenant, std::string_view vary) {
  return open || !is_personal(request, settings, tenant, vary);
}

}  // namespace spillway::cache
