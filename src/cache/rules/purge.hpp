// Purge of stored responses: by URI, by prefix, or all of a route.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::cache {

// The text is a URI: `http://host/path?query` with any scheme, or `/path?query` for any host; the
// host in upper or lower case, with its port if requests have one. It matches the responses of all
// tenants and all variants. A prefix refers to the path; a text without a path means the whole
// host. Any other text matches nothing.
struct Purge {
  enum class What : std::uint8_t { key, prefix, all };
  What what = What::all;
  std::string_view text{};
};

// Whether it covers the responses to requests for this URI; authority in lower case.
bool matches(const Purge& purge, std::string_view authority, std::string_view path_and_query);

}  // namespace spillway::cache
