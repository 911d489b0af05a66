#include "base/ip_address.hpp"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// Reads digits of the base from the front; false unless there are 1 to `max_digits`.
bool take_number(std::string_view& text, unsigned base, std::size_t max_digits, unsigned& value) {
  value = 0;
  std::size_t digits = 0;
  for (; !text.empty(); text.remove_prefix(1), ++digits) {
    const char c = text.front();
    const char lower = static_cast<char>(c | 0x20);
    unsigned digit = 16;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (lower >= 'a' && lower <= 'f') digit = static_cast<unsigned>(lower - 'a') + 10;
    if (digit >= base) break;
    value = value * base + digit;
    if (digits == max_digits) return false;
  }
  return digits > 0;
}

bool parse_v4(std::string_view text, std::uint8_t* out) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) {
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    const bool leading_zero = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    unsigned value = 0;
    if (leading_zero || !take_number(text, 10, 3, value) || value > 255) return false;
    out[i] = static_cast<std::uint8_t>(value);
  }
  return text.empty();
}

bool parse_v6(std::string_view text, std::array<std::uint8_t, 16>& out) {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 0;
  std::size_t gap = bytes.size() + 1;  // where "::" stands; beyond the end: nowhere
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (size == 16) return false;
    const std::string_view group = text.substr(0, text.find(':'));
    if (group.find('.') != std::string_view::npos) {
      if (size > 12 || group.size() != text.size() || !parse_v4(group, &bytes[size])) return false;
      size += 4;
      break;
    }
    unsigned value = 0;
    if (!take_number(text, 16, 4, value)) return false;
    bytes[size++] = static_cast<std::uint8_t>(value >> 8);
    bytes[size++] = static_cast<std::uint8_t>(value);
    if (text.empty()) break;
    if (!text.starts_with(':')) return false;
    text.remove_prefix(1);
    if (text.starts_with(':')) {
      if (gap <= bytes.size()) return false;
      gap = size;
      text.remove_prefix(1);
    } else if (text.empty()) {
      return false;
    }
  }
  if (gap <= bytes.size()) {
    if (size == 16) return false;
    // What stands after the gap moves to the end, and zeros take its place.
    for (std::size_t to = 16, from = size; from > gap;) {
      bytes[--to] = bytes[--from];
      if (to != from) bytes[from] = 0;
    }
    size = 16;
  }
  out = bytes;
  return size == 16;
}

}  // namespace

bool IpAddress::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes.begin()); }

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  IpAddress address;
  if (text.find(':') != std::string_view::npos) {
    if (!parse_v6(text, address.bytes)) return std::nullopt;
  } else {
    std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
    if (!parse_v4(text, &address.bytes[12])) return std::nullopt;
  }
  return address;
}

bool IpBlock::contains(const IpAddress& address) const {
  const std::size_t whole = prefix / 8;
  if (!std::equal(base.bytes.begin(), base.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  address.bytes.begin())) {
    return false;
  }
  const unsigned rest = prefix % 8;
  if (rest == 0) return true;
  const unsigned mask = 0xffu << (8 - rest) & 0xffu;
  return ((base.bytes[whole] ^ address.bytes[whole]) & mask) == 0;
}

std::string_view parse_ip_block(std::string_view text, IpBlock& out) {
  const std::size_t slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  const auto address = parse_ip_address(address_text);
  if (!address) return "is not an IPv4 or IPv6 address";
  out = {*address, 128};
  if (slash == std::string_view::npos) return "";
  const bool v4 = address_text.find(':') == std::string_view::npos;
  std::string_view digits = text.substr(slash + 1);
  const bool leading_zero = digits.size() > 1 && digits[0] == '0';
  unsigned prefix = 0;
  if (leading_zero || !take_number(digits, 10, 3, prefix) || !digits.empty()) {
    return "has a prefix length that is not a number";
  }
  if (prefix > (v4 ? 32u : 128u))
    return v4 ? "has a prefix length above 32" : "has a prefix length above 128";
  out.prefix = v4 ? 96 + prefix : prefix;
  return "";
}

}  // namespace spillway
