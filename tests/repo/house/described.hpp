// Whether a stranger finds a file: it says what it is, and its folder's README.md names it.
#pragma once

#include <string>
#include <vector>

#include "repo/house/rules.hpp"

namespace spillway::house {

// Files of code that begin with no comment, as a sentence each: headers, and sources without a
// header of their name, which says it for them.
std::vector<std::string> unintroduced(const std::vector<SourceFile>& files);

// Files of code whose stem, such as `body` of http/body.hpp, stands in no README.md of their folder
// or of one around it, as a sentence each. The root and its README.md are left out.
std::vector<std::string> unnamed(const std::vector<SourceFile>& files);

}  // namespace spillway::house
