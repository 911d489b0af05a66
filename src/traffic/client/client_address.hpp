// The client's address behind trusted proxies, and the network that identifies the client.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "http/field/field_list.hpp"
#include "traffic/client/peers.hpp"

namespace spillway::traffic {

// The client of a request that came from a trusted `peer`: the rightmost address of X-Forwarded-For
// (all its fields, in order) that is not itself a trusted peer, since everything to the left of
// that is unverified. If all are trusted, the leftmost. The walk stops at an entry that is no
// address (obfuscated, "unknown"): then the address to the right of it counts, or the peer. Empty
// entries are skipped (RFC 9110 section 5.6.1.2); a port and brackets are left out.
IpAddress client_behind(const IpAddress& peer, const http::FieldList& fields,
                        const TrustedPeers& trusted);

// The network that identifies a client: the /64 of an IPv6 address, since a client owns a whole one
// (RFC 6177, RFC 7421) and could change its address with each request; a whole IPv4 address.
IpAddress client_network(const IpAddress& address);

// A client's network as text, e.g. "192.0.2.7", "2001:db8:1:2::/64" (RFC 5952), stored inline.
class ClientNetworkText {
 public:
  ClientNetworkText() = default;  // empty
  explicit ClientNetworkText(const IpAddress& network);

  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_{};  // "ffff:ffff:ffff:ffff::/64"
  std::uint8_t size_ = 0;
};

}  // namespace spillway::traffic
