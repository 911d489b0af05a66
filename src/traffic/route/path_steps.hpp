// The transformations that backends, and proxies before them, apply to a path before routing it:
// small pure functions from text to text. path.hpp applies them in any order and number.
//
// A text starts with "/". A step may write nothing (which stands for "/"), and at most as many
// bytes as it reads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace spillway::traffic {

// Features of a text that some step would change. Escaped characters count only as escapes: their
// own features are seen once they are decoded.
enum PathFeature : unsigned {
  kEscapes = 1,
  kUnreserved = 2,      // an escape that RFC 3986 section 6.2.2.2 removes
  kEscapedSlashes = 4,  // %2F
  kBackslashes = 8,
  kEmptySegments = 16,
  kDots = 32,         // a segment "." or ".."
  kEncodedDots = 64,  // a segment that becomes one of them when %2e is decoded
  kParameters = 128,  // ";"
  kNul = 256,
  kQuery = 512,        // "?", which can only have been escaped
  kFragment = 1024,    // "#", likewise
  kAuthority = 2048,   // the text begins with two slashes or backslashes
  kLineBreaks = 4096,  // TAB, LF, CR
  kLooseEnds = 8192,   // a segment that ends with dots or spaces
  kBlankEnd = 16384,   // the text ends with spaces, controls or the blanks of ISO 8859-1
  kBlankEdges = 32768  // a segment that begins or ends with these
};

struct PathStep {
  unsigned feature;  // without this feature the step changes nothing
  bool decodes;      // decodes escapes: any escapes in its result are then the segment's own text
  std::size_t (*apply)(std::string_view text, char* out);
};

std::span<const PathStep> path_steps();

// Rather too many than too few. `raw`: only characters that RFC 3986 calls unreserved were decoded,
// so that the text is compared as raw_reading(). Then escapes of characters that no step changes,
// such as non-ASCII letters and spaces within a segment, are not a feature.
unsigned features_of(std::string_view text, bool raw);

// The segments of a text as sent, in the form that routes have: characters that a segment may
// contain unescaped stay escaped, the others are decoded, except slashes and backslashes (%2F,
// %5C). Returns the size.
std::size_t raw_reading(std::string_view text, char* out);

// The reading of RFC 3986: slashes are merged, literal dot segments resolved, and then escapes
// decoded, except slashes and backslashes (%2F, %5C).
std::size_t standard_reading(std::string_view text, char* out);

// Decodes as standard_reading() does. `out` may be the text's own memory.
std::size_t decode_segment(std::string_view segment, char* out);

}  // namespace spillway::traffic
