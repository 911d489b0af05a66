#include "observe/json_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

namespace spillway::observe {
namespace {

// The length of the UTF-8 sequence at the start of `text`, 0 when there is none. The second
// byte's range excludes overlong forms, surrogates and code points beyond U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

// The code point of a whole UTF-8 sequence.
char32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  char32_t value = sequence.size() == 1 ? lead : lead & (0x7fu >> sequence.size());
  for (const char c : sequence.substr(1))
    value = value << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return value;
}

// Characters that change how a terminal or an editor shows the rest of a line: controls (C0, C1,
// with NEL and CSI), line separators, and those that are invisible or turn the direction of text
// ("Trojan Source", CVE-2021-42574).
bool is_deceptive(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
      {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

}  // namespace

// As RFC 8259 section 7 has it: beyond the basic plane as a pair of surrogates.
bool JsonLine::put_escape(char32_t c) {
  if (c > 0xffff) {
    c -= 0x10000;
    return put_escape(0xd800 + (c >> 10)) && put_escape(0xdc00 + (c & 0x3ff));
  }
  constexpr std::string_view digits = "0123456789abcdef";
  const char escaped[] = {
      '\\', 'u', digits[c >> 12], digits[c >> 8 & 15], digits[c >> 4 & 15], digits[c & 15]};
  return put({escaped, sizeof escaped});
}

bool JsonLine::put(std::string_view text) {
  if (size_ + text.size() > kCapacity - kReserve) return false;
  if (!text.empty()) std::memcpy(block_.data() + size_, text.data(), text.size());
  size_ += text.size();
  return true;
}

bool JsonLine::put_escaped(std::string_view text) {
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8_length(text);
    bool fits = false;
    if (length == 0) {
      fits = put("\xef\xbf\xbd");
    } else if (c == '"' || c == '\\') {
      const char escaped[] = {'\\', c};
      fits = put({escaped, 2});
    } else if ((c < 0x20 || c == 0x7f) && is_deceptive(code_point(text.substr(0, length)))) {
      fits = put_escape(code_point(text.substr(0, length)));  // c < 0x20: also negative ones
    } else {
      fits = put(text.substr(0, length));
    }
    if (!fits) return false;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return true;
}

template <class PutValue>
JsonLine& JsonLine::member(std::string_view key, PutValue put_value) {
  if (skipping_) return *this;
  const std::size_t before = size_;
  if (put(first_ ? "\"" : ",\"") && put(key) && put("\":") && put_value()) {
    first_ = false;
  } else {
    size_ = before;
  }
  return *this;
}

JsonLine& JsonLine::text(std::string_view key, std::string_view value) {
  return member(key, [&] { return put("\"") && put_escaped(value) && put("\""); });
}

JsonLine& JsonLine::integer(std::string_view key, std::uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return member(key, [&] { return put({digits, static_cast<std::size_t>(end - digits)}); });
}

JsonLine& JsonLine::number(std::string_view key, double value) {
  if (!std::isfinite(value)) return member(key, [&] { return put("null"); });
  char digits[400];  // the largest double has 309 digits before its point
  const auto end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 3).ptr;
  return member(key, [&] { return put({digits, static_cast<std::size_t>(end - digits)}); });
}

JsonLine& JsonLine::open(std::string_view key) {
  const std::size_t before = size_;
  member(key, [&] { return put("{"); });
  if (size_ == before) {
    skipping_ = true;
  } else {
    nested_ = true;
    first_ = true;
  }
  return *this;
}

JsonLine& JsonLine::close() {
  if (nested_) {
    block_[size_++] = '}';  // put() keeps room for it
    nested_ = false;
    first_ = false;
  }
  skipping_ = false;
  return *this;
}

}  // namespace spillway::observe
