// Weights of Accept, Accept-Language and their like.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::http {

// A qvalue of RFC 9110 section 12.4.2 in thousandths: "0.8" is 800. nullopt: malformed.
constexpr std::optional<int> parse_qvalue(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int value = (text[0] - '0') * 1000;
  int unit = 100;
  for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (!is_digit(c)) return std::nullopt;
    value += (c - '0') * unit;
    unit /= 10;
  }
  return value <= 1000 ? std::optional(value) : std::nullopt;
}

}  // namespace spillway::http
