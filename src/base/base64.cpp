#include "base/base64.hpp"

#include <nettle/base64.h>

namespace spillway {

namespace {

constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// -1 for anything but a digit.
int url_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-') return 62;
  return c == '_' ? 63 : -1;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  ::base64_encode_raw(text.data(), bytes.size(),
                      reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return text;
}

void write_base64url(std::span<const std::uint8_t> bytes, char* to) {
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::uint8_t byte : bytes) {
    held = held << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) *to++ = kUrlDigits[held >> (bits - 6) & 63];
  }
  if (bits > 0) *to = kUrlDigits[held << (6 - bits) & 63];
}

bool read_base64url(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != base64url_size(bytes.size())) return false;
  std::uint32_t held = 0;
  unsigned bits = 0;
  std::size_t read = 0;
  for (const char c : text) {
    const int digit = url_digit(c);
    if (digit < 0) return false;
    held = held << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[read++] = static_cast<std::uint8_t>(held >> bits);
  }
  // Unused bits must be zero, so that each byte sequence has only one encoding.
  return (held & ((1u << bits) - 1)) == 0;
}

}  // namespace spillway
