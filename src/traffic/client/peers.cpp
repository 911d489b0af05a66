#include "traffic/client/peers.hpp"

#include <algorithm>
#include <stdexcept>

namespace spillway::traffic {

TrustedPeers::TrustedPeers(const std::vector<std::string>& blocks) {
  for (const std::string& text : blocks) {
    IpBlock block;
    const std::string_view wrong = parse_ip_block(text, block);
    if (!wrong.empty()) throw std::invalid_argument("\"" + text + "\" " + std::string(wrong));
    blocks_.push_back(block);
  }
}

bool TrustedPeers::contains(const IpAddress& address) const {
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [&](const IpBlock& block) { return block.contains(address); });
}

}  // namespace spillway::traffic
