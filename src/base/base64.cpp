#include "base/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace spillway {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      const std::size_t from = at + n;
      group = group << 8 | (from < bytes.size() ? static_cast<unsigned char>(bytes[from]) : 0u);
    }
    for (std::size_t n = 0; n < 4; ++n) {
      const bool is_padding = at + n > bytes.size();
      text += is_padding ? '=' : kDigits[group >> (6 * (3 - n)) & 63];
    }
  }
  return text;
}

}  // namespace spillway
