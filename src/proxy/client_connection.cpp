#include "proxy/client_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "proxy/worker.hpp"

namespace spillway::proxy {

ClientFacts facts_of(const sockaddr_storage& peer, const Generation& generation) {
  ClientFacts facts;
  IpAddress ip;
  const char* text = nullptr;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    text = ::inet_ntop(AF_INET, &v4.sin_addr, facts.text.data(), facts.text.size());
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::memcpy(&ip.bytes[12], &v4.sin_addr, 4);
  } else if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    std::memcpy(ip.bytes.data(), &v6.sin6_addr, 16);
    // A client of a dual-stack socket is shown as the IPv4 address it has.
    text = ip.is_v4() ? ::inet_ntop(AF_INET, &ip.bytes[12], facts.text.data(), facts.text.size())
                      : ::inet_ntop(AF_INET6, &v6.sin6_addr, facts.text.data(), facts.text.size());
  }
  if (text == nullptr) std::memcpy(facts.text.data(), "unknown", sizeof "unknown");
  facts.text_size = static_cast<std::uint8_t>(std::strlen(facts.text.data()));
  if (text != nullptr) facts.peer = generation.classifier.peer(ip);
  facts.recognised_by = generation.number;
  return facts;
}

ClientConnection::ClientConnection(Worker& worker, int descriptor, const ClientFacts& facts,
                                   traffic::AddressCount::Place place)
    : Stream(worker.io(), descriptor), worker_(worker), facts_(facts), place_(std::move(place)) {
  worker_.connection_opened();
}

ClientConnection::~ClientConnection() { worker_.connection_closed(); }

void ClientConnection::recognise(const Generation& generation) {
  if (facts_.recognised_by == generation.number) return;
  facts_.recognised_by = generation.number;
  if (const auto ip = parse_ip_address(facts_.address()))
    facts_.peer = generation.classifier.peer(*ip);
}

void ClientConnection::become_idle(TimePoint now) {
  idle_since_ = now;
  worker_.idle_clients.push_back(*this);
  readable();
}

void ClientConnection::on_idle_readable() {
  // A callback may be left over from an exchange that still runs, waiting for something else.
  if (!IdleHook::is_linked()) return;
  IdleHook::unlink();
  worker_.begin_exchange(this);
}

}  // namespace spillway::proxy
