// Field names as CGI and its successors pass them to a program (RFC 3875 section 4.1.18): without
// case, and with an underscore for each hyphen. lighttpd and others use one for every character
// other than letters and digits, so that X.Real+IP is X-Real-IP to programs behind them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::http {

namespace detail {
constexpr std::array<char, 256> cgi_characters() {
  std::array<char, 256> table{};
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    table[static_cast<std::size_t>(i)] = is_alpha(c) || is_digit(c) ? to_lower(c) : '-';
  }
  return table;
}
inline constexpr std::array<char, 256> kCgi = cgi_characters();
}  // namespace detail

// The lower-case letter, and a hyphen for each character that becomes an underscore in CGI.
constexpr char cgi_folded(char c) { return detail::kCgi[static_cast<unsigned char>(c)]; }

// Whether `name` has a character other than a hyphen that becomes an underscore in CGI.
constexpr bool is_ambiguous_to_cgi(std::string_view name) {
  for (const char c : name) {
    if (cgi_folded(c) == '-' && c != '-') return true;
  }
  return false;
}

// Whether a CGI program cannot distinguish the two names.
constexpr bool are_one_to_cgi(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return cgi_folded(x) == cgi_folded(y); });
}

}  // namespace spillway::http
