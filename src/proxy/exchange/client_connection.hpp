// A client's connection. While it is idle it holds no buffer and no coroutine, only a pending
// readability callback; when bytes arrive an exchange borrows what it needs.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ip_address.hpp"
#include "base/time.hpp"
#include "proxy/net/stream.hpp"
#include "traffic/address_count.hpp"
#include "traffic/tenant.hpp"

namespace spillway::proxy {

class Worker;
struct Generation;

struct IdleHook
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
};

// An IP address as text (RFC 5952; an IPv4-mapped one as the IPv4 address it is), in itself.
class AddressText {
 public:
  AddressText() = default;  // "unknown"
  explicit AddressText(const IpAddress& address);

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 46> text_{"unknown"};  // INET6_ADDRSTRLEN
  std::uint8_t size_ = 7;
};

// Who is at the other end, for as long as it is there and beyond.
struct ClientFacts {
  AddressText text;
  traffic::Peer peer;
  std::uint64_t recognised_by = 0;  // the number of the generation

  // The peer's address as text, without port; "unknown" for what is not IP.
  std::string_view address() const { return text.view(); }
  // The peer's word about the client is believed (trusted_peers).
  bool trusted() const { return peer.trusted; }
};

ClientFacts facts_of(const sockaddr_storage& peer, const Generation& generation);

class ClientConnection final : public Stream, public IdleHook {
 public:
  ClientConnection(Worker& worker, int descriptor, const ClientFacts& facts,
                   traffic::AddressCount::Place place);

  const ClientFacts& facts() const { return facts_; }
  // A reload may have changed whose word is believed.
  void recognise(const Generation& generation);

  // Waits for the next request, holding nothing.
  void become_idle(TimePoint now);
  TimePoint idle_since() const { return idle_since_; }

  // An empty line came instead of a request: true for the first one since the last request. Were
  // there no end to them, a client that asks for nothing could stay for ever.
  bool pardons_empty_line() { return !std::exchange(sent_empty_line_, true); }
  void request_came() { sent_empty_line_ = false; }

 private:
  ~ClientConnection() override;
  void on_idle_readable() override;

  Worker& worker_;
  TimePoint idle_since_{};
  bool sent_empty_line_ = false;
  ClientFacts facts_;
  traffic::AddressCount::Place place_;
};

using ClientPtr = boost::intrusive_ptr<ClientConnection>;

}  // namespace spillway::proxy
