#include "base/sha256.hpp"

#include <nettle/memops.h>
#include <nettle/sha2.h>

namespace spillway {
namespace {

// -1 for anything but a hexadecimal digit.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Sha256 sha256(std::string_view text) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  Sha256 digest;
  sha256_digest(&context, digest.size(), digest.data());
  return digest;
}

std::optional<Sha256> parse_sha256(std::string_view hex) {
  Sha256 digest;
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = digit(hex[2 * i]);
    const int low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return digest;
}

std::string to_text(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

bool equal_in_constant_time(const Sha256& one, const Sha256& other) {
  return memeql_sec(one.data(), other.data(), one.size()) != 0;
}

}  // namespace spillway
