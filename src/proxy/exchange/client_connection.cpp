#include "proxy/exchange/client_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

AddressText::AddressText(const IpAddress& address) {
  const char* const text =
      address.is_v4() ? ::inet_ntop(AF_INET, &address.bytes[12], text_.data(), text_.size())
                      : ::inet_ntop(AF_INET6, address.bytes.data(), text_.data(), text_.size());
  size_ = static_cast<std::uint8_t>(std::strlen(text));  // its block is large enough for any
}

ClientFacts facts_of(const sockaddr_storage& peer, const Generation& generation) {
  ClientFacts facts;
  facts.recognised_by = generation.number;
  IpAddress ip;
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    ip.bytes[10] = ip.bytes[11] = 0xff;
    std::memcpy(&ip.bytes[12], &v4.sin_addr, 4);
  } else if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    std::memcpy(ip.bytes.data(), &v6.sin6_addr, 16);
  } else {
    return facts;
  }
  facts.text = AddressText(ip);
  facts.peer = generation.classifier.peer(ip);
  return facts;
}

ClientConnection::ClientConnection(Worker& worker, int descriptor, const ClientFacts& facts,
                                   traffic::AddressCount::Place place)
    : Stream(worker.loop(), descriptor, true),
      worker_(worker),
      facts_(facts),
      place_(std::move(place)) {
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
