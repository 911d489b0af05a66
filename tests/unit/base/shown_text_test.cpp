#include "base/shown_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

using namespace spillway;

TEST_CASE("every code point but surrogates is read back from its UTF-8") {
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c <= 0xdfff) continue;
    std::string text;
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f));
    } else {
      put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80) put(0x80 | (c & 0x3f));
    const Character first = first_character(text + "x");
    REQUIRE(first.bytes == text.size());
    REQUIRE(first.code == c);
    if (text.size() > 1) REQUIRE(first_character(text.substr(0, text.size() - 1)).bytes == 0);
  }
}

TEST_CASE("what is overlong or a surrogate or beyond Unicode is no character") {
  for (const char* text : {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                           "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80", "\xff", "\xe2\x82\x41", "\xc3\xc3"}) {
    CAPTURE(text);
    CHECK(first_character(text).bytes == 0);
  }
}

TEST_CASE("a text is UTF-8 up to the first byte that begins no whole character") {
  CHECK(utf8_part("") == 0);
  CHECK(utf8_part("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == 10);
  CHECK(utf8_part("a\xc3\xa9\xe2\x82") == 3);     // cut within a character
  CHECK(utf8_part("ab\xc0\xaf-c\xc3\xa9") == 2);  // an overlong slash
  CHECK(utf8_part("\x80 a") == 0);
}

TEST_CASE("controls, separators and what hides or turns text deceive, its neighbours do not") {
  // First and last of each range; where one ends the next one does not begin.
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
      {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
      {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},   {0x2800, 0x2800},
      {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
      {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  for (const auto& [first, last] : kRanges) {
    CAPTURE(std::uint32_t{first});
    for (char32_t c = first; c <= last; ++c) CHECK(is_deceptive(c));
    if (first > 0) CHECK_FALSE(is_deceptive(first - 1));
    CHECK_FALSE(is_deceptive(last + 1));
  }
  for (const char32_t c : {0x20, 0x7e, 0xe9, 0x20ac, 0xfffd, 0x1f600}) {
    CAPTURE(std::uint32_t{c});
    CHECK_FALSE(is_deceptive(c));
  }
}
