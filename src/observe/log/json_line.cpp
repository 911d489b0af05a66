#include "observe/log/json_line.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/shown_text.hpp"

namespace spillway::observe {
// As in RFC 8259 section 7: beyond the basic multilingual plane as a surrogate pair.
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
    const Character character = first_character(text);
    bool fits = false;
    if (character.bytes == 0) {
      fits = put("\xef\xbf\xbd");
    } else if (c == '"' || c == '\\') {
      const char escaped[] = {'\\', c};
      fits = put({escaped, 2});
    } else if (is_deceptive(character.code)) {
      fits = put_escape(character.code);
    } else {
      fits = put(text.substr(0, character.bytes));
    }
    if (!fits) return false;
    text.remove_prefix(character.bytes == 0 ? 1 : character.bytes);
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
    block_[size_++] = '}';  // put() keeps room for this
    nested_ = false;
    first_ = false;
  }
  skipping_ = false;
  return *this;
}

}  // namespace spillway::observe
