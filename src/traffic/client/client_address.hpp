// The client's address behind trusted proxies, and the networks that identify a client and its
// site.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "http/field/field_list.hpp"
#include "traffic/client/peers.hpp"

namespace spillway::traffic {

// The client of a request from a trusted `peer`: the rightmost address of X-Forwarded-For (all its
// fields, in order) that is not itself a trusted peer, since everything to the left of it is
// unverified. If all are trusted, the leftmost. The walk stops at an entry that is not an address
// (obfuscated, "unknown"): then the address to its right counts, or the peer. Empty entries are
// skipped (RFC 9110 section 5.6.1.2); port and brackets are removed.
IpAddress client_behind(const IpAddress& peer, const http::FieldList& fields,
                        const TrustedPeers& trusted);

// Prefix lengths in bits: for IPv4 a multiple of 8, for IPv6 a multiple of 16, up to 64.
struct PrefixLength {
  std::uint8_t v4, v6;
};
// The network that identifies a client: the /64 of an IPv6 address, since a client owns a whole /64
// (RFC 6177, RFC 7421) and could change its address with each request; a whole IPv4 address.
inline constexpr PrefixLength kOfClient{32, 64};
// The network of a client's site: usually the largest that a provider assigns to one customer (RFC
// 6177). Several customers may share it.
inline constexpr PrefixLength kOfSite{24, 48};

IpAddress network_of(const IpAddress& address, PrefixLength length);
inline IpAddress client_network(const IpAddress& address) { return network_of(address, kOfClient); }
inline IpAddress site_network(const IpAddress& address) { return network_of(address, kOfSite); }

// A network as text, e.g. "192.0.2.7", "192.0.2.0/24", "2001:db8:1:2::/64" (RFC 5952), stored
// inline.
class NetworkText {
 public:
  NetworkText() = default;  // empty
  NetworkText(const IpAddress& network, PrefixLength length);

  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_{};  // "ffff:ffff:ffff:ffff::/64"
  std::uint8_t size_ = 0;
};

}  // namespace spillway::traffic
