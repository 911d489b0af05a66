// What the tests of the waiting page look for in it.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "base/sha256.hpp"

namespace spillway::waiting {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

inline std::string between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  REQUIRE(from != std::string_view::npos);
  const std::size_t to = text.find(end, from + begin.size());
  REQUIRE(to != std::string_view::npos);
  return std::string(text.substr(from + begin.size(), to - from - begin.size()));
}

// As a policy names it.
inline std::string hash_of(std::string_view text) {
  const Sha256 digest = sha256(text);
  return "'sha256-" + base64(std::string(digest.begin(), digest.end())) + "'";
}

}  // namespace spillway::waiting
