// A parsed path pattern of a route: literal segments, `*`, and a final `**`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::traffic {

struct Pattern {
  struct Segment {
    bool star = false;
    std::string literal;  // if not a star; with escapes decoded (path.hpp)
  };

  static constexpr std::size_t kMaxSegments = 63;

  std::vector<Segment> segments;
  bool below = false;  // the pattern ends in /**

  // Bit i: segment i is a star; for the first `depth` segments.
  std::uint64_t shape(std::size_t depth) const;
};

// Throws std::invalid_argument, describing the error, unless the text starts with "/", has no empty
// or dot segment, stars only as whole segments, `**` only at the end, and at most kMaxSegments
// segments. A trailing slash is ignored. A literal star is written %2A.
Pattern parse_pattern(std::string_view text);

// Segment by segment, from the left: a literal comes before `*`, `*` before `**`, and the end of
// the pattern before `**`.
bool more_specific(const Pattern& a, const Pattern& b);

}  // namespace spillway::traffic
