// The peer of a client's connection: its address, and whether it is trusted (trusted_peers).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ip_address.hpp"
#include "proxy/generation/generation.hpp"
#include "traffic/client/tenant.hpp"

namespace spillway::proxy {

// An IP address as text (RFC 5952; an IPv4-mapped address as IPv4), without heap memory.
class AddressText {
 public:
  AddressText() = default;  // "unknown"
  explicit AddressText(const IpAddress& address);

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 46> text_{"unknown"};  // INET6_ADDRSTRLEN
  std::uint8_t size_ = 7;
};

// A value: objects that outlive the connection keep a copy.
struct ClientInfo {
  AddressText text;
  traffic::Peer peer;
  std::uint64_t recognised_by = 0;  // number of the generation that judged whether it is trusted

  // The peer's address as text, without port; "unknown" unless it is an IP address.
  std::string_view address() const { return text.view(); }
  // The peer's forwarding fields are trusted (trusted_peers).
  bool trusted() const { return peer.trusted; }
};

ClientInfo info_of(const sockaddr_storage& peer, const Generation& generation);

}  // namespace spillway::proxy
