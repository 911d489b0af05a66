// How large classes and functions are, read from the text of a source file as clang-format leaves
// it: what is within a body is indented deeper than its first line and its closing brace. Where
// that does not hold, the text is formatted otherwise and nothing is found.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "repo/house/rules.hpp"

namespace spillway::house {

struct ClassSize {
  std::string name;  // "Server::Parts", as it is defined; empty: it has none
  std::size_t line = 0;
  std::size_t data_members = 0;  // its own: not inherited, not static, not of nested classes
};

struct FunctionSize {
  std::string heading;  // its first line
  std::size_t line = 0;
  std::size_t lines = 0;  // from the first line of the heading to the closing brace
};

// Classes, structs and unions with a body, in the order of the text, nested ones included. Members
// of a nested union or struct without a name and without an object count as the outer one's.
std::vector<ClassSize> classes_in(const std::string& text);

// Functions with a body of more than one line, in the order of the text, and lambdas outside of
// functions. Those within one are lines of it.
std::vector<FunctionSize> functions_in(const std::string& text);

// A sentence for each class with more than 20 data members and for each function of more than 60
// lines.
std::vector<std::string> oversized(const std::vector<SourceFile>& files);

}  // namespace spillway::house
