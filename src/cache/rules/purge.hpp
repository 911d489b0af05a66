// Purge of stored responses by URI, by prefix, or of all of a route.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::cache {

// The text is a URI: `http://host/path?query` with any scheme, or `/path?query` for any host; the
// host in any case, with its port if requests have one. The responses of all tenants and all
// variants match. A prefix is one of the path; a text without a path means the whole host. Any
// other text matches nothing.
struct Purge {
  enum class What : std::uint8_t { key, prefix, all };
  What what = What::all;
  std::string_view text{};
};

// Whether it covers the responses to requests for this URI; authority in lower case.
bool matches(const Purge& purge, std::string_view authority, std::string_view path_and_query);

}  // namespace spillway::cache
