#include "cache/rules/purge.hpp"

#include "http/field/ascii.hpp"

namespace spillway::cache {

bool matches(const Purge& purge, std::string_view authority, std::string_view path_and_query) {
  if (purge.what == Purge::What::all) return true;
  std::string_view text = purge.text;
  if (const std::size_t end = text.find("://"); end != std::string_view::npos && text[0] != '/') {
    text.remove_prefix(end + 3);
    const std::size_t path = text.find_first_of("/?");
    if (!http::iequals(text.substr(0, path), authority)) return false;
    text = path == std::string_view::npos ? std::string_view{} : text.substr(path);
  } else if (!text.starts_with('/')) {
    return false;
  }
  // A path may lack its slash on both sides: "http://host?q" is "http://host/?q".
  if (text.starts_with('/')) text.remove_prefix(1);
  if (path_and_query.starts_with('/')) path_and_query.remove_prefix(1);
  return purge.what == Purge::What::prefix ? path_and_query.starts_with(text)
                                           : path_and_query == text;
}

}  // namespace spillway::cache
