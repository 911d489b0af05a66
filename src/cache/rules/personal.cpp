#include "cache/rules/personal.hpp"

#include <algorithm>
#include <string>

#include "http/field/ascii.hpp"

namespace spillway::cache {
namespace {

using http::FieldId;
using http::iequals;

bool lists(std::string_view names, std::string_view name) {
  bool found = false;
  http::for_each_element(names, [&](std::string_view other) { found |= iequals(other, name); });
  return found;
}

bool names_tenant(const TenantInKey& tenant, std::string_view name) {
  return (tenant.by_api_key && iequals(name, "X-Api-Key")) ||
         (!tenant.by_field.empty() && iequals(name, tenant.by_field));
}

// `varies(name)`: whether the responses' Vary lists the field.
template <class Varies>
bool has_personal_field_unless(const http::FieldList& request, const config::Cache& settings,
                               const TenantInKey& tenant, const Varies& varies) {
  for (const std::string& name : settings.personal) {
    if (!request.find(name)) continue;
    const bool in_key = (!settings.across_tenants && names_tenant(tenant, name)) ||
                        http::contains_name(settings.vary, name) || varies(name);
    if (!in_key) return true;
  }
  return false;
}

}  // namespace

bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, std::string_view vary) {
  return has_personal_field_unless(request, settings, tenant,
                                   [&](std::string_view name) { return lists(vary, name); });
}

bool has_personal_field(const http::FieldList& request, const config::Cache& settings,
                        const TenantInKey& tenant, const http::FieldList& response) {
  return has_personal_field_unless(request, settings, tenant, [&](std::string_view name) {
    return std::any_of(response.begin(), response.end(), [&](const http::Field& field) {
      return field.id == FieldId::vary && lists(field.value, name);
    });
  });
}

}  // namespace spillway::cache
