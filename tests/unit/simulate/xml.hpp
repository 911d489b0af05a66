// As much of XML 1.0 as a test needs to tell well-formed from broken.
#pragma once

#include <string>
#include <string_view>

namespace spillway::simulate {

// Empty when `text` is one element with balanced tags, quoted attributes none of which comes
// twice, no entities but the five predefined ones and `#39`, and no control characters; otherwise
// what is wrong. Declarations, comments and CDATA count as wrong.
std::string malformed(std::string_view text);

}  // namespace spillway::simulate
