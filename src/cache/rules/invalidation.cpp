#include "cache/rules/invalidation.hpp"

#include <cstddef>

#include "http/field/ascii.hpp"

namespace spillway::cache {

std::string_view same_authority_target(std::string_view reference, std::string_view authority) {
  reference = reference.substr(0, reference.find('#'));
  for (const std::string_view scheme : {"http:", "https:"}) {
    if (!http::istarts_with(reference, scheme)) continue;
    reference.remove_prefix(scheme.size());
    if (!reference.starts_with("//")) return {};
    break;
  }
  if (reference.starts_with("//")) {
    reference.remove_prefix(2);
    const std::size_t end = reference.find_first_of("/?");
    if (!http::iequals(reference.substr(0, end), authority)) return {};
    if (end == std::string_view::npos) return "/";
    reference.remove_prefix(end);
  }
  return reference.starts_with('/') ? reference : std::string_view();
}

}  // namespace spillway::cache
