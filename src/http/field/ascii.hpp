// The character classes and comparisons of RFC 9110 section 5.6: ASCII only, no locale.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
// One or more of these characters.
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

// The first control character (including HTAB and DEL) at or after `from`; text.size() if none.
inline std::size_t find_control(std::string_view text, std::size_t from) {
#ifdef __SSE2__  // every x86-64: sixteen bytes at a time
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; from + 16 <= text.size(); from += 16) {
    __m128i bytes;
    std::memcpy(&bytes, text.data() + from, 16);
    const __m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i found = _mm_or_si128(is_control, _mm_cmpeq_epi8(bytes, del));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(found));
    if (mask != 0) return from + static_cast<std::size_t>(std::countr_zero(mask));
  }
#endif
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

// Whether the name is one of these, case-insensitively.
template <class Names>
bool contains_name(const Names& names, std::string_view name) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view one) { return iequals(one, name); });
}
inline bool contains_name(std::initializer_list<std::string_view> names, std::string_view name) {
  return contains_name<std::initializer_list<std::string_view>>(names, name);
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
