// The network of a client's site: the most addresses that a provider assigns to one customer as a
// rule, the /48 of an IPv6 address (RFC 6177), the /24 of an IPv4 one. Wider than client_network(),
// so several customers may share it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/ip_address.hpp"

namespace spillway::traffic {

IpAddress site_network(const IpAddress& address);

// As text, e.g. "192.0.2.0/24", "2001:db8:1::/48" (RFC 5952), stored inline.
class SiteNetworkText {
 public:
  SiteNetworkText() = default;  // empty
  explicit SiteNetworkText(const IpAddress& site_network);

  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_{};
  std::size_t size_ = 0;
};

}  // namespace spillway::traffic
