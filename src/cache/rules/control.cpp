#include "cache/rules/control.hpp"

#include "http/caching/targeted_control.hpp"

namespace spillway::cache {

ResponseControl response_control(const http::FieldList& response, const config::Cache& settings) {
  for (const std::string& name : settings.targeted) {
    if (const auto targeted = http::targeted_cache_control(response, name))
      return {*targeted, true};
  }
  return {http::cache_control(response), false};
}

bool has_explicit_lifetime(const http::FieldList& response, const ResponseControl& control) {
  return control.directives.max_age || control.directives.s_maxage ||
         (!control.is_targeted && response.contains(http::FieldId::expires));
}

}  // namespace spillway::cache
