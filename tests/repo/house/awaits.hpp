// Where a coroutine awaits within a condition or an operand, which g++ 12.2 compiles wrongly
// (src/README.md, rule 5). Read from the text of a source file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "repo/house/rules.hpp"

namespace spillway::house {

// The lines with a co_await in the parentheses of an if, while, switch or for, or beside `&&`,
// `||`, `?` or `!` of the same expression.
std::vector<std::size_t> misplaced_awaits(const std::string& text);

// The same as a sentence each.
std::vector<std::string> misplaced_awaits(const std::vector<SourceFile>& files);

}  // namespace spillway::house
