#include "proxy/request/context/counted_client.hpp"

namespace spillway::proxy {

std::optional<IpAddress> counted_client(const RequestContext& request) {
  const traffic::Peer& peer = request.client.peer;
  const IpAddress client =
      request.generation->generation().classifier.client_of(request.head, peer);
  if (peer.trusted && client == peer.address) return std::nullopt;
  return client;
}

}  // namespace spillway::proxy
