// Trusted peers: the proxies in front of Spillway whose forwarding fields are believed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"

namespace spillway::traffic {

class TrustedPeers {
 public:
  // Addresses and CIDR blocks, which the configuration has checked; throws std::invalid_argument on
  // anything else.
  explicit TrustedPeers(const std::vector<std::string>& blocks);

  bool contains(const IpAddress& address) const;

 private:
  std::vector<IpBlock> blocks_;
};

}  // namespace spillway::traffic
