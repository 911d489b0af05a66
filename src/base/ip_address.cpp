#include "base/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace spillway {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v6_text(std::string_view text) { return text.find(':') != std::string_view::npos; }

}  // namespace

bool IpAddress::is_v4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  // inet_pton() takes a C string: a NUL within the text would hide what follows.
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  IpAddress address;
  if (is_v6_text(text)) {
    if (::inet_pton(AF_INET6, terminated.data(), address.bytes.data()) != 1) return std::nullopt;
  } else {
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
    if (::inet_pton(AF_INET, terminated.data(), &address.bytes[12]) != 1) return std::nullopt;
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
  return (base.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

std::string_view parse_ip_block(std::string_view text, IpBlock& out) {
  const std::size_t slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  const auto address = parse_ip_address(address_text);
  if (!address) return "is not an IPv4 or IPv6 address";
  out = {*address, 128};
  if (slash == std::string_view::npos) return "";
  const std::string_view digits = text.substr(slash + 1);
  unsigned prefix = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), prefix);
  const bool is_padded = digits.size() > 3 || (digits.size() > 1 && digits[0] == '0');
  if (error != std::errc() || end != digits.end() || is_padded)
    return "has a prefix length that is not a number";
  const bool v6 = is_v6_text(address_text);
  if (prefix > (v6 ? 128u : 32u))
    return v6 ? "has a prefix length above 128" : "has a prefix length above 32";
  out.prefix = v6 ? prefix : 96 + prefix;
  return "";
}

}  // namespace spillway
