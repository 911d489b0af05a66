// Whether a response may be meant for one person only and must not be reused for others.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::cache {

// The field that named the tenant, whose value is in the key. Ignored if tenants share responses
// (`across_tenants`).
struct TenantInKey {
  bool by_api_key = false;      // X-Api-Key
  std::string_view by_field{};  // name of the trusted field; empty: none
};

// Whether the request has one of the configured `personal` fields, even empty, whose value is not
// in the key: it did not name the tenant, and neither the configured `vary` nor `vary` (names,
// comma-separated, as in a Vary field) lists it.
bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, std::string_view vary);
// The same, by the names in the response's Vary fields.
bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, const http::FieldList& response);

// A request is personal if it has Authorization, even if Vary lists it, or one of those fields.
inline bool is_personal(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, std::string_view vary) {
  return request.contains(http::FieldId::authorization) ||
         has_personal_field(request, settings, tenant, vary);
}

}  // namespace spillway::cache
