// IP addresses and CIDR blocks as text and bytes, without sockets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

// IPv4 addresses are kept as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2), so that a client seen
// through a dual-stack socket is the same client.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// Strict: four decimal numbers without leading zeros, or RFC 4291 section 2.2 text without zone
// and brackets. nullopt for anything else.
std::optional<IpAddress> parse_ip_address(std::string_view text);

// An address and how many of its leading bits count.
struct IpBlock {
  IpAddress base;
  unsigned prefix = 128;  // in bits of the 128; an IPv4 /n is 96 + n

  bool contains(const IpAddress& address) const;
};

// An address or `address/prefix`. Returns what is wrong, as a sentence; empty when it is right.
std::string_view parse_ip_block(std::string_view text, IpBlock& out);

}  // namespace spillway
