// An error in a configuration, worded for its author.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::config {

struct Problem {
  std::string path;     // JSON path, e.g. "$.routes[2].class"; "FILE:LINE:COLUMN" for bad syntax
  std::string message;  // the value found, the values allowed, the nearest name
};

using Problems = std::vector<Problem>;

// JSON paths. A key that is not a plain word is quoted, escaped and truncated: safe to print.
std::string member(std::string_view path, std::string_view key);
std::string element(std::string_view path, std::size_t index);

// `text` as a JSON string of printable ASCII, truncated after 60 characters.
std::string shown(std::string_view text);

// The candidate with the smallest edit distance to `text` (the first of equals), if at most half of
// the longer text, rounded up, has to change. Otherwise empty.
std::string_view nearest(std::string_view text, std::span<const std::string> candidates);

// ": did you mean ..." if a candidate is near, otherwise ": expected one of ...".
std::string suggestion(std::string_view text, std::span<const std::string> candidates);

}  // namespace spillway::config
