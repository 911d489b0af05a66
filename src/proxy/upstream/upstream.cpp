#include "proxy/upstream/upstream.hpp"

#include <algorithm>

namespace spillway::proxy {

void Upstream::adopt(const Upstream& former) {
  servers.adopt(former.servers);
  // Compares addresses by value: the resolver may have returned them in another order now.
  for (std::size_t server = 0; server < endpoints.size(); ++server) {
    const auto before =
        std::ranges::find(former.endpoints, endpoints[server].name, &Endpoint::name);
    if (before == former.endpoints.end()) continue;
    const auto in_use =
        former.servers.address_in_use(static_cast<std::size_t>(before - former.endpoints.begin()));
    const auto& addresses = endpoints[server].addresses;
    const auto same = std::ranges::find(addresses, before->addresses[in_use]);
    if (same != addresses.end())
      servers.use_address(server, static_cast<std::size_t>(same - addresses.begin()));
  }
}

}  // namespace spillway::proxy
