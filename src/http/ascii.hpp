// The character classes and comparisons of RFC 9110 section 5.6: ASCII only, no locale.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace spillway::http {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; }

// The value of a hexadecimal digit, -1 for other characters.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

namespace detail {
constexpr std::array<bool, 256> token_characters() {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c) {
    const char character = static_cast<char>(c);
    table[c] = is_digit(character) || is_alpha(character) ||
               std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos;
  }
  return table;
}
inline constexpr std::array<bool, 256> kToken = token_characters();
}  // namespace detail

// tchar of RFC 9110 section 5.6.2.
constexpr bool is_token(char c) { return detail::kToken[static_cast<unsigned char>(c)]; }
// One or more of them.
constexpr bool is_token_text(std::string_view text) {
  for (const char c : text) {
    if (!is_token(c)) return false;
  }
  return !text.empty();
}
// Control characters except HTAB, which no field value may contain (RFC 9110 section 5.5).
constexpr bool is_forbidden_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

// The first control character (HTAB too) or DEL at or after `from`; text.size() if none. Eight
// bytes at a time: the lowest byte that the "less than n" trick flags is always a true one
// (Anderson, "Bit Twiddling Hacks").
inline std::size_t find_control(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHighs = 0x8080808080808080u;
  if constexpr (std::endian::native == std::endian::little) {
    for (; from + 8 <= text.size(); from += 8) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + from, 8);
      const std::uint64_t below_space = (word - kOnes * 0x20) & ~word & kHighs;
      const std::uint64_t delta = word ^ (kOnes * 0x7f);
      const std::uint64_t found = below_space | ((delta - kOnes) & ~delta & kHighs);
      if (found != 0) return from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  for (; from < text.size(); ++from) {
    const auto c = static_cast<unsigned char>(text[from]);
    if (c < 0x20 || c == 0x7f) return from;
  }
  return from;
}

constexpr bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}
constexpr bool istarts_with(std::string_view text, std::string_view prefix) {
  return iequals(text.substr(0, prefix.size()), prefix);
}

// Without optional white space (SP, HTAB) at either end.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls visit(element) for each element of a comma-separated list, trimmed; empty ones too.
template <class Visit>
constexpr void for_each_element(std::string_view list, Visit visit) {
  for (;;) {
    const std::size_t comma = list.find(',');
    visit(trim(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace spillway::http
