#include "base/shown_text.hpp"

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <iterator>
#include <utility>

namespace spillway {

Character first_character(std::string_view text) {
  namespace utf = boost::locale::utf;
  const char* end = text.data();
  const utf::code_point code = utf::utf_traits<char>::decode(end, text.data() + text.size());
  if (!utf::is_valid_codepoint(code)) return {0, 0};
  return {static_cast<std::size_t>(end - text.data()), code};
}

std::size_t utf8_part(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

// Invisible: Default_Ignorable_Code_Point of Unicode 15.0 (DerivedCoreProperties.txt), and also the
// Braille blank, which looks as empty, and the annotation marks U+FFF9 to U+FFFB, which hide the
// text between them.
bool is_deceptive(char32_t c) {
  if (c >= 0x20 && c < 0x7f) return false;  // nearly all characters
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
      {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
      {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},   {0x2800, 0x2800},
      {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
      {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

}  // namespace spillway
