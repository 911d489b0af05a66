#include "cache/rules/overridden.hpp"

#include <algorithm>
#include <string_view>

#include "http/field/ascii.hpp"
#include "http/field/cgi_name.hpp"

namespace spillway::cache {
namespace {

bool is_override(std::string_view name) {
  if (http::to_lower(name.front()) != 'x') return false;
  for (const std::string_view one : {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
                                     "X-Original-URL", "X-Original-Uri", "X-Rewrite-URL"}) {
    if (http::are_one_to_cgi(name, one)) return true;  // a backend may read it as that field
  }
  return false;
}

}  // namespace

bool is_overridden(const http::FieldList& request, const config::Cache& settings) {
  return std::any_of(request.begin(), request.end(), [&](const http::Field& field) {
    if (field.id != http::FieldId::unknown || !is_override(field.name)) return false;
    return !http::contains_name(settings.vary, field.name);
  });
}

}  // namespace spillway::cache
