#include "traffic/client/site_network.hpp"

#include <algorithm>

#include "traffic/client/client_address.hpp"

namespace spillway::traffic {

IpAddress site_network(const IpAddress& address) {
  IpAddress network = address;
  std::fill(network.bytes.begin() + (address.is_v4() ? 15 : 6), network.bytes.end(), 0);
  return network;
}

SiteNetworkText::SiteNetworkText(const IpAddress& site_network) {
  const ClientNetworkText address(site_network);
  const std::string_view text = address.text().substr(0, address.text().find('/'));
  const std::string_view length = site_network.is_v4() ? "/24" : "/48";
  char* const end = std::copy(text.begin(), text.end(), text_.data());
  size_ = static_cast<std::size_t>(std::copy(length.begin(), length.end(), end) - text_.data());
}

}  // namespace spillway::traffic
