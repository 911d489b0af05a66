// What backends, and proxies in front of them, do to a path before they route by it: small steps,
// each a pure function from a text to a text. path.hpp takes them in any order and number.
//
// A text starts with "/". A step writes at least nothing (then it stands for "/") and at most as
// many bytes as it reads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace spillway::traffic {

// What a text has that a step changes. Escaped characters count as their escapes only: what they
// are is seen once they are decoded.
enum PathFeature : unsigned {
  kEscapes = 1,
  kUnreserved = 2,      // an escape that RFC 3986 section 6.2.2.2 removes
  kEscapedSlashes = 4,  // %2F
  kBackslashes = 8,
  kEmptySegments = 16,
  kDots = 32,         // a segment "." or ".."
  kEncodedDots = 64,  // a segment that is one of them once %2e is decoded
  kParameters = 128,  // ";"
  kNul = 256,
  kQuery = 512,        // "?", which can only have been escaped
  kFragment = 1024,    // "#", likewise
  kAuthority = 2048,   // it begins with two slashes or backslashes
  kLineBreaks = 4096,  // TAB, LF, CR
  kLooseEnds = 8192,   // a segment that ends with dots or spaces
  kBlankEnd = 16384,   // it ends with spaces, controls or the blanks of ISO 8859-1
  kBlankEdges = 32768  // a segment that begins or ends with these
};

struct PathStep {
  unsigned feature;  // without it the step changes nothing
  bool decodes;      // escapes: those that are left are then the segment's own text
  std::size_t (*apply)(std::string_view text, char* out);
};

std::span<const PathStep> path_steps();

// Rather too much than too little. `raw`: nothing was decoded but what RFC 3986 calls unreserved,
// so that the text is compared as raw_reading(). Then escapes of characters that no step cares for,
// such as letters beyond ASCII and spaces within a segment, are no feature.
unsigned features_of(std::string_view text, bool raw);

// The segments of a text as it was sent, as routes have them: characters that a segment may have as
// they are stay escaped, the others are decoded, but for slashes and backslashes (%2F, %5C).
// Returns the size.
std::size_t raw_reading(std::string_view text, char* out);

// The reading of RFC 3986: slashes are merged, dot segments resolved as they stand, and then
// escapes decoded, but for slashes and backslashes (%2F, %5C).
std::size_t standard_reading(std::string_view text, char* out);

// Decoded as by standard_reading(). `out` may be where the text is.
std::size_t decode_segment(std::string_view segment, char* out);

}  // namespace spillway::traffic
