// IP addresses and CIDR blocks, parsed from text by inet_pton(3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

// In network byte order. IPv4 addresses are stored as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2):
// a client that connects through a dual-stack socket has the same address as through an IPv4 one.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Strict: four decimal numbers without leading zeros, or RFC 4291 section 2.2 text without zone
// and brackets. nullopt for anything else.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// A CIDR block: all addresses that share the first `prefix` bits with `base`.
struct IpBlock {
  IpAddress base;
  unsigned prefix = 128;  // of 128 bits; an IPv4 /n is 96 + n

  bool contains(const IpAddress& address) const;
};

// Parses an address or `address/prefix`. Returns the error as the rest of a sentence, empty on
// success.
std::string_view parse_ip_block(std::string_view text, IpBlock& out);

}  // namespace spillway
