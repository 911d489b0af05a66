#include "http/field/request_id.hpp"

#include <boost/endian/conversion.hpp>
#include <cstdint>
#include <cstring>

#include "http/field/ascii.hpp"

namespace spillway::http {
namespace {

// Eight lower-case hexadecimal digits in memory order, the highest first. All at once: one half
// byte into each byte, then those above 9 are shifted to the letters.
std::uint64_t hex_digits(std::uint32_t value) {
  std::uint64_t digits = value;
  digits = (digits | digits << 16) & 0x0000ffff0000ffffu;
  digits = (digits | digits << 8) & 0x00ff00ff00ff00ffu;
  digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fu;
  const std::uint64_t is_letter = ((digits + 0x0606060606060606u) >> 4) & 0x0101010101010101u;
  digits += 0x3030303030303030u + is_letter * ('a' - '0' - 10);
  return boost::endian::native_to_big(digits);
}

// 16 lower-case hexadecimal digits, the highest first.
void write_hex(std::uint64_t value, char* out) {
  const std::uint64_t digits[] = {hex_digits(static_cast<std::uint32_t>(value >> 32)),
                                  hex_digits(static_cast<std::uint32_t>(value))};
  std::memcpy(out, digits, sizeof digits);
}

std::uint64_t non_zero(Random& random) {
  const std::uint64_t value = random.next();
  return value != 0 ? value : 1;
}

bool is_lower_hex(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c) && (c < 'a' || c > 'f')) return false;
  }
  return true;
}

bool is_all_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

std::string_view make_request_id(Random& random, std::array<char, kRequestIdSize>& into) {
  write_hex(random.next(), into.data());
  write_hex(random.next(), into.data() + 16);
  return {into.data(), into.size()};
}

std::string_view make_traceparent(Random& random, std::array<char, kTraceparentSize>& into) {
  std::memcpy(into.data(), "00-", 3);
  write_hex(non_zero(random), into.data() + 3);
  write_hex(random.next(), into.data() + 19);
  into[35] = '-';
  write_hex(non_zero(random), into.data() + 36);
  std::memcpy(into.data() + 52, "-01", 3);
  return {into.data(), into.size()};
}

bool valid_request_id(std::string_view id) {
  if (id.empty() || id.size() > kMaxRequestIdSize) return false;
  for (const char c : id) {
    const bool visible = c > 0x20 && c < 0x7f;
    if (!visible || c == '"' || c == '\\' || c == ',' || c == ';') return false;
  }
  return true;
}

bool valid_traceparent(std::string_view value) {
  if (value.size() < kTraceparentSize) return false;
  const std::string_view version = value.substr(0, 2);
  const std::string_view trace = value.substr(3, 32);
  const std::string_view parent = value.substr(36, 16);
  const std::string_view flags = value.substr(53, 2);
  if (value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
  if (!is_lower_hex(version) || !is_lower_hex(trace) || !is_lower_hex(parent) ||
      !is_lower_hex(flags)) {
    return false;
  }
  if (version == "ff" || is_all_zero(trace) || is_all_zero(parent)) return false;
  if (value.size() == kTraceparentSize) return true;
  return version != "00" && value[kTraceparentSize] == '-' && value.size() <= kMaxRequestIdSize;
}

}  // namespace spillway::http
