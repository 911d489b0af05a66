// Normalises a path for route matching, so that no spelling (`..`, `//`, escapes) that a backend
// may treat as the same path dodges a route's class. For matching only: the path is forwarded byte
// for byte.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace spillway::traffic {

// Both start with "/", have no empty, "." or ".." segment in their own reading, no trailing slash
// (but "/" itself), no query and no fragment.
struct NormalisedPath {
  std::string_view decoded;  // every escape decoded first; a backslash separates like a slash;
                             // a segment's parameters (";v=1", RFC 3986 3.3) are cut off
  std::string_view literal;  // an escaped slash or backslash (kept as %2F, %5C) and a plain
                             // backslash do not separate, an escaped dot is no dot segment,
                             // parameters are part of their segment

  bool ambiguous() const { return decoded != literal; }
};

// `scratch` must hold twice the path and two bytes. An ordinary path is returned as a view of
// itself. An invalid escape stays as it is; decoding happens once. Too small a scratch gives two
// empty views.
NormalisedPath normalise(std::string_view path_and_query, std::span<char> scratch);

}  // namespace spillway::traffic
