// What an operator wants out of a store.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::cache {

// A text names a URI as `http://host/path?query`, whatever the scheme, or as `/path?query` on any
// host; the host in any case, with its port if requests have one. Every tenant's and every
// variant's answer goes. A prefix is one of the path; a text without a path names a whole host.
// Another text matches nothing.
struct Purge {
  enum class What : std::uint8_t { key, prefix, all };
  What what = What::all;
  std::string_view text{};
};

// Whether the purge is about the answers to a request; the authority in lower case.
bool matches(const Purge& purge, std::string_view authority, std::string_view path_and_query);

}  // namespace spillway::cache
