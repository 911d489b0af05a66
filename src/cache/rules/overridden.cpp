#include "cache/rules/overridden.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "http/ascii.hpp"

namespace spillway::cache {
namespace {

// Whether a backend may take the one for the other: CGI has underscores for hyphens.
bool means(std::string_view name, std::string_view field) {
  return std::equal(name.begin(), name.end(), field.begin(), field.end(), [](char a, char b) {
    return http::to_lower(a == '_' ? '-' : a) == http::to_lower(b);
  });
}

bool is_override(std::string_view name) {
  if (http::to_lower(name.front()) != 'x') return false;
  for (const std::string_view one : {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
                                     "X-Original-URL", "X-Rewrite-URL"}) {
    if (means(name, one)) return true;
  }
  return false;
}

}  // namespace

bool is_overridden(const http::FieldList& request, const config::Cache& settings) {
  return std::any_of(request.begin(), request.end(), [&](const http::Field& field) {
    if (field.id != http::FieldId::unknown || !is_override(field.name)) return false;
    return std::none_of(settings.vary.begin(), settings.vary.end(),
                        [&](const std::string& name) { return http::iequals(name, field.name); });
  });
}

}  // namespace spillway::cache
