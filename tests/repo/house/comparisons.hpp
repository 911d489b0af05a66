// How secrets are compared: whoever sends a text until it is accepted must not learn from the time
// of each answer how much of it was right.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "repo/house/rules.hpp"

namespace spillway::house {

// A sentence for each comparison of a secret, a key, a signature or a signed text by ==, memcmp()
// or equal() in these folders: equal_in_constant_time() is for that. What is one is told by the
// type it is declared with in the same file, and by its name. Sets of secrets, which no visitor
// sends, may be compared.
std::vector<std::string> hasty_comparisons(const std::vector<SourceFile>& files,
                                           const std::set<std::string>& folders);

}  // namespace spillway::house
